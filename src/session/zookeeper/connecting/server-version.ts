import type { Opcode, OpcodeName } from "../../../wire/protocol.ts";
import type { TlsOptions } from "../../options.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import type { Endpoint } from "./link.ts";

export type Version = readonly [major: number, minor: number, patch: number];

/**
 * The first release that knows an operation. A server answers an unknown one by closing the
 * connection: better not to ask.
 */
export const SINCE: Partial<Record<OpcodeName, Version>> = {
  create2: [3, 5, 0],
  reconfig: [3, 5, 0],
  removeWatches: [3, 5, 0],
  createContainer: [3, 5, 1],
  createTtl: [3, 5, 3],
  multiRead: [3, 6, 0],
  getEphemerals: [3, 6, 0],
  getAllChildrenNumber: [3, 6, 0],
  setWatches2: [3, 6, 0],
  addWatch: [3, 6, 0],
  whoAmI: [3, 7, 0],
} satisfies Partial<Record<keyof typeof Opcode, Version>>;

/**
 * The releases of the servers that a session meets: each is asked once, and only when an
 * operation needs to know.
 */
export class ServerVersions {
  readonly #tls: TlsOptions | undefined;
  readonly #asked = new Map<string, Promise<Version | undefined>>();
  /** Undefined where a server does not say. */
  readonly #known = new Map<string, Version | undefined>();
  #isWanted = false;
  /** The server that the last handshake was sent to. */
  #greeted: Endpoint | undefined;

  constructor(tls: TlsOptions | undefined) {
    this.#tls = tls;
  }

  /** A handshake is about to leave to this server. */
  greeting(endpoint: Endpoint): void {
    this.#greeted = endpoint;
    if (this.#isWanted) void this.ask(endpoint);
  }

  /**
   * From now on each server is asked while its handshake is under way, so that the answer costs no
   * time of its own.
   */
  askEach(): void {
    this.#isWanted = true;
    if (this.#greeted !== undefined) void this.ask(this.#greeted);
  }

  ask(endpoint: Endpoint): Promise<Version | undefined> {
    const key = keyOf(endpoint);
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const asking = askVersion(endpoint, this.#tls).then((version) => {
      this.#known.set(key, version);
      return version;
    });
    this.#asked.set(key, asking);
    return asking;
  }

  /** It has said before that it knows the operation, or that it will not say. */
  surelyHas(endpoint: Endpoint, name: OpcodeName): boolean {
    const key = keyOf(endpoint);
    return this.#known.has(key) && knows(this.#known.get(key), name);
  }
}

/** Identifies a server by its address, not by its name. */
export function keyOf({ ip, port }: Endpoint): string {
  return `${ip} ${port}`;
}

/**
 * Whether a server of this release has an operation; one that does not say is taken for a current
 * one.
 */
export function knows(version: Version | undefined, name: OpcodeName): boolean {
  const least = SINCE[name];
  return least === undefined || version === undefined || isAtLeast(version, least);
}

/**
 * The server's release, by its `srvr`; undefined when it does not say (the word can be switched
 * off). Asked once per server, and only by operations that older servers lack.
 */
export async function askVersion(
  endpoint: Endpoint,
  tls: TlsOptions | undefined,
): Promise<Version | undefined> {
  try {
    const server = { host: endpoint.ip, port: endpoint.port };
    const named = tls === undefined ? tls : { servername: endpoint.host, ...tls };
    return parseVersion(await fourLetterWord(server, "srvr", named));
  } catch {
    // No answer to a courtesy question: assume a current release, as with a server that will not
    // say.
    return undefined;
  }
}

export function parseVersion(srvr: string): Version | undefined {
  const found = /version:\s*(\d+)\.(\d+)\.(\d+)/i.exec(srvr);
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : undefined;
}

export function isAtLeast(version: Version, least: Version): boolean {
  for (let i = 0; i < least.length; i++) {
    const difference = (version[i] ?? 0) - (least[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
