/** The calls of the system's GSSAPI library (RFC 2744) that a Kerberos login needs. */
import type { LibraryHandle } from "koffi";
import type { GssapiCredentials, GssapiFailure } from "./messages.ts";

type Koffi = typeof import("koffi").default;
type TypeSpec = Parameters<Koffi["inout"]>[0];

/** MIT's library by its names on Linux and macOS, there also as Homebrew installs it. */
const LIBRARIES: readonly string[] = [
  "libgssapi_krb5.so.2",
  "/opt/homebrew/opt/krb5/lib/libgssapi_krb5.dylib",
  "/usr/local/opt/krb5/lib/libgssapi_krb5.dylib",
  "libgssapi_krb5.dylib",
];

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
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/** GSS_S_NO_CRED and GSS_S_FAILURE: Kerberos has the reason. */
const OF_KERBEROS: readonly number[] = [7, 13];

/** The error code is GSSAPI's own, or that of its mechanism. */
const CODE = { gss: 1, mechanism: 2 } as const;

export class GssError extends Error {
  readonly failure: GssapiFailure;

  constructor(failure: GssapiFailure) {
    super(failure.text);
    this.failure = failure;
  }
}

type Pointer = bigint | null;
/** A gss_buffer_desc. */
interface GssBuffer {
  length: number;
  value: Pointer | Buffer;
}

/** One login at a time. Its calls block, for as long as a KDC takes. */
export class GssLibrary {
  readonly #koffi: Koffi;
  readonly #call: Calls;
  #context: Pointer = null;
  #credentials: Pointer = null;
  #target: Pointer = null;

  /** Throws GssError where the package or the library is missing. */
  static async load(): Promise<GssLibrary> {
    const koffi = await loadKoffi();
    dieWithParent(koffi);
    return new GssLibrary(koffi, loadLibrary(koffi));
  }

  private constructor(koffi: Koffi, library: LibraryHandle) {
    this.#koffi = koffi;
    this.#call = declareCalls(koffi, library);
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

async function loadKoffi(): Promise<Koffi> {
  try {
    return (await import("koffi")).default;
  } catch (error) {
    const [text = ""] = (error as Error).message.split("\n");
    throw new GssError({ missing: "package", text });
  }
}

function loadLibrary(koffi: Koffi): LibraryHandle {
  const reasons: string[] = [];
  for (const name of LIBRARIES) {
    try {
      return koffi.load(name);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new GssError({ missing: "library", text: reasons[0] ?? "" });
}

/**
 * On Linux: a call may wait a minute for a KDC, without noticing that its session has been killed.
 */
function dieWithParent(koffi: Koffi): void {
  if (process.platform !== "linux") return;
  koffi.load(null).func("prctl", "int", ["int", "unsigned long"])(PR_SET_PDEATHSIG, SIGKILL);
}

type Calls = ReturnType<typeof declareCalls>;

function declareCalls(koffi: Koffi, library: LibraryHandle) {
  const { pointer, struct, out: out_, inout: inout_ } = koffi;
  const buffer = struct({ length: "size_t", value: "void *" });
  const oid = struct({ length: "uint32_t", elements: "void *" });
  const oids = struct({ count: "size_t", elements: pointer(oid) });
  const storeEntry = struct({ key: "str", value: "str" });
  const store = struct({ count: "uint32_t", elements: pointer(storeEntry) });
  const minor = out_(pointer("uint32_t"));
  const handle = "void *";
  const newHandle = out_(pointer("void *"));
  const handleInOut = inout_(pointer("void *"));
  const bytes = pointer(buffer);
  const filled = out_(pointer(buffer));
  const declare = (name: string, parameters: TypeSpec[]) =>
    library.func(`gss_${name}`, "uint32_t", parameters);
  return {
    importName: declare("import_name", [minor, bytes, pointer(oid), newHandle]),
    displayName: declare("display_name", [minor, handle, filled, handle]),
    releaseName: declare("release_name", [minor, handleInOut]),
    acquire: declare("acquire_cred_from", [
      minor,
      handle,
      "uint32_t",
      pointer(oids),
      "int",
      pointer(store),
      newHandle,
      handle,
      handle,
    ]),
    inquire: declare("inquire_cred", [minor, handle, newHandle, handle, handle, handle]),
    releaseCredentials: declare("release_cred", [minor, handleInOut]),
    initialize: declare("init_sec_context", [
      minor,
      handle,
      handleInOut,
      handle,
      pointer(oid),
      "uint32_t",
      "uint32_t",
      handle,
      bytes,
      handle,
      filled,
      out_(pointer("uint32_t")),
      handle,
    ]),
    deleteContext: declare("delete_sec_context", [minor, handleInOut, handle]),
    unwrap: declare("unwrap", [minor, handle, bytes, filled, handle, handle]),
    wrap: declare("wrap", [minor, handle, "int", "uint32_t", bytes, handle, filled]),
    displayStatus: declare("display_status", [
      minor,
      "uint32_t",
      "int",
      pointer(oid),
      inout_(pointer("uint32_t")),
      filled,
    ]),
    releaseBuffer: declare("release_buffer", [minor, inout_(pointer(buffer))]),
  };
}
