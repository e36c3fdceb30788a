/** The calls of the system's GSSAPI library (RFC 2744) that a Kerberos login needs. */
import { type GssCalls, GssError, type Koffi, loadCalls } from "./gss-calls.ts";
import type { GssapiCredentials } from "./messages.ts";

/** ASN.1 object identifiers, without type and length. */
const OIDS = {
  /** 1.2.840.113554.1.2.2 */
  kerberos: Buffer.from("2a864886f712010202", "hex"),
  /** 1.2.840.113554.1.2.1.4: SERVICE@HOST. */
  hostBasedService: Buffer.from("2a864886f71201020104", "hex"),
  /** 1.2.840.113554.1.2.2.1: a principal of Kerberos. */
  principal: Buffer.from("2a864886f71201020201", "hex"),
} as const;

const FLAGS = { mutual: 0x02, sequence: 0x08, integrity: 0x20 } as const;
const WANTED = FLAGS.mutual | FLAGS.sequence | FLAGS.integrity;
const INITIATE = 1;
const INDEFINITE = 0xffff_ffff;
const CONTINUE_NEEDED = 1;

/** GSS_S_NO_CRED and GSS_S_FAILURE: Kerberos has the reason. */
const OF_KERBEROS: readonly number[] = [7, 13];

/** The error code is GSSAPI's own, or that of its mechanism. */
const CODE = { gss: 1, mechanism: 2 } as const;

type Pointer = bigint | null;
/** A gss_buffer_desc. */
interface GssBuffer {
  length: number;
  value: Pointer | Buffer;
}

/** One login at a time. Its calls block, for as long as a KDC takes. */
export class GssLibrary {
  readonly #koffi: Koffi;
  readonly #call: GssCalls;
  #context: Pointer = null;
  #credentials: Pointer = null;
  #target: Pointer = null;

  /** Throws GssError where the package or the library is missing. */
  static async load(): Promise<GssLibrary> {
    return new GssLibrary(await loadCalls());
  }

  private constructor({ koffi, calls }: { koffi: Koffi; calls: GssCalls }) {
    this.#koffi = koffi;
    this.#call = calls;
  }

  /** Gets credentials for the login at `target` (SERVICE@HOST); returns whose they are. */
  begin(target: string, credentials: GssapiCredentials): string {
    this.#end();
    this.#target = this.#importName(target, OIDS.hostBasedService);
    this.#credentials = this.#acquire(credentials);
    const name = [null] as Pointer[];
    this.#check((minor) => this.#call.inquire(minor, this.#credentials, name, null, null, null));
    return this.#take((minor, text) =>
      this.#call.displayName(minor, name[0], text, null),
    ).toString();
  }

  /** The next token for the server, after the one that came from it. */
  next(token: Buffer | undefined): { token: Buffer; isEstablished: boolean } {
    const context = [this.#context];
    const flags = [0];
    let isEstablished = false;
    const answer = this.#take((minor, out) => {
      const major: number = this.#call.initialize(
        minor,
        this.#credentials,
        context,
        this.#target,
        oid(OIDS.kerberos),
        WANTED,
        0,
        null,
        buffer(token ?? Buffer.alloc(0)),
        null,
        out,
        flags,
        null,
      );
      this.#context = context[0] ?? null;
      isEstablished = major === 0;
      return major;
    });
    if (isEstablished && (Number(flags[0]) & FLAGS.mutual) === 0)
      throw new Error("the server did not prove itself");
    return { token: answer, isEstablished };
  }

  unwrap(token: Buffer): Buffer {
    return this.#take((minor, out) =>
      this.#call.unwrap(minor, this.#context, buffer(token), out, null, null),
    );
  }

  /** With a checksum, not encrypted. */
  wrap(message: Buffer): Buffer {
    return this.#take((minor, out) =>
      this.#call.wrap(minor, this.#context, 0, 0, buffer(message), null, out),
    );
  }

  #acquire({ keytab, principal, ticketCache }: GssapiCredentials): Pointer {
    const name = principal === undefined ? null : this.#importName(principal, OIDS.principal);
    // Tickets got with keys stay in the memory of this process.
    const cache = keytab === undefined ? ticketCache : "MEMORY:";
    const store = [
      ...(keytab === undefined ? [] : [{ key: "client_keytab", value: `FILE:${keytab}` }]),
      ...(cache === undefined ? [] : [{ key: "ccache", value: cache }]),
    ];
    const found = [null] as Pointer[];
    this.#check((minor) =>
      this.#call.acquire(
        minor,
        name,
        INDEFINITE,
        { count: 1, elements: [oid(OIDS.kerberos)] },
        INITIATE,
        store.length === 0 ? null : { count: store.length, elements: store },
        found,
        null,
        null,
      ),
    );
    if (name !== null) this.#call.releaseName([0], [name]);
    return found[0] ?? null;
  }

  #importName(text: string, type: Buffer): Pointer {
    const name = [null] as Pointer[];
    this.#check((minor) =>
      this.#call.importName(minor, buffer(Buffer.from(text)), oid(type), name),
    );
    return name[0] ?? null;
  }

  /** Frees what the login before has left. */
  #end(): void {
    const minor = [0];
    if (this.#context !== null) this.#call.deleteContext(minor, [this.#context], null);
    if (this.#credentials !== null) this.#call.releaseCredentials(minor, [this.#credentials]);
    if (this.#target !== null) this.#call.releaseName(minor, [this.#target]);
    this.#context = null;
    this.#credentials = null;
    this.#target = null;
  }

  /** Makes a call that fills a buffer, and frees the buffer. */
  #take(call: (minor: number[], out: GssBuffer) => number): Buffer {
    const out: GssBuffer = { length: 0, value: null };
    this.#check((minor) => call(minor, out));
    return this.#contentsOf(out);
  }

  #contentsOf(out: GssBuffer): Buffer {
    const { length, value } = out;
    const bytes =
      length === 0 ? Buffer.alloc(0) : Buffer.from(this.#koffi.view(value, Number(length)));
    const copy = Buffer.from(bytes);
    this.#call.releaseBuffer([0], out);
    return copy;
  }

  #check(call: (minor: number[]) => number): void {
    const minor = [0];
    const major = call(minor);
    if (major === 0 || major === CONTINUE_NEEDED) return;
    const code = minor[0] ?? 0;
    // Of other errors Kerberos itself has nothing to say ("Success").
    const isOfKerberos = OF_KERBEROS.includes(routineError(major));
    const text = isOfKerberos ? this.#text(code, CODE.mechanism) : this.#text(major, CODE.gss);
    throw new GssError({ major: routineError(major), minor: code, text });
  }

  /** What the library says about an error code; only for the last call that failed. */
  #text(code: number, kind: number): string {
    const parts: string[] = [];
    const position = [0];
    do {
      const out: GssBuffer = { length: 0, value: null };
      const type = kind === CODE.gss ? null : oid(OIDS.kerberos);
      if (this.#call.displayStatus([0], code, kind, type, position, out) !== 0) break;
      parts.push(this.#contentsOf(out).toString());
    } while (position[0] !== 0);
    return parts.join(", ");
  }
}

/** The error in a status of GSSAPI, which has other parts below and above it. */
function routineError(major: number): number {
  return (major >>> 16) & 0xff;
}

function oid(elements: Buffer): { length: number; elements: Buffer } {
  return { length: elements.length, elements };
}

function buffer(value: Buffer): GssBuffer {
  return { length: value.length, value };
}
