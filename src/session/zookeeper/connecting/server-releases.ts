import type { OpcodeName } from "../../../wire/protocol.ts";
import type { TlsOptions } from "../../options.ts";
import { API_VERSION_PATH, FEATURES_PATH, readFeatures } from "./keeper-features.ts";
import type { Endpoint } from "./link.ts";
import { askRelease, knows, type Release } from "./server-version.ts";

/** Reads a znode of the server attached to, outside any chroot; undefined when it cannot. */
type ReadNode = (path: string) => Promise<Buffer | null | undefined>;

/**
 * The releases of the servers that a session meets: each is asked once, and only when an
 * operation needs to know.
 */
export class ServerReleases {
  readonly #tls: TlsOptions | undefined;
  readonly #readNode: ReadNode;
  readonly #asked = new Map<string, Promise<Release | undefined>>();
  readonly #completed = new Map<string, Promise<Release | undefined>>();
  /** Undefined where a server does not say. */
  readonly #known = new Map<string, Release | undefined>();
  /** The servers whose handshake was that of ClickHouse Keeper. */
  readonly #keepers = new Set<string>();
  #isWanted = false;
  /** The server that the last handshake was sent to. */
  #greeted: Endpoint | undefined;

  constructor(tls: TlsOptions | undefined, readNode: ReadNode) {
    this.#tls = tls;
    this.#readNode = readNode;
  }

  /** A handshake is about to leave to this server. */
  greeting(endpoint: Endpoint): void {
    this.#greeted = endpoint;
    if (this.#isWanted) void this.say(endpoint);
  }

  /** The server has accepted the session. */
  attached(endpoint: Endpoint, { isKeeper }: { readonly isKeeper: boolean }): void {
    const key = keyOf(endpoint);
    if (this.#keepers.has(key) === isKeeper) return;
    // Another server may answer at the same address now.
    this.#completed.delete(key);
    this.#known.delete(key);
    if (isKeeper) this.#keepers.add(key);
    else this.#keepers.delete(key);
  }

  /**
   * From now on each server is asked while its handshake is under way, so that the answer costs no
   * time of its own.
   */
  askEach(): void {
    this.#isWanted = true;
    if (this.#greeted !== undefined) void this.say(this.#greeted);
  }

  /** What the server attached to is and has. Of ClickHouse Keeper, two of its znodes are read. */
  ask(endpoint: Endpoint): Promise<Release | undefined> {
    const key = keyOf(endpoint);
    const asked = this.#completed.get(key);
    if (asked !== undefined) return asked;
    const asking = this.#complete(endpoint).then((release) => {
      if (this.#completed.get(key) === asking) this.#known.set(key, release);
      return release;
    });
    this.#completed.set(key, asking);
    return asking;
  }

  /** It has said before that it knows the operation, or that it will not say. */
  surelyHas(endpoint: Endpoint, name: OpcodeName): boolean {
    const key = keyOf(endpoint);
    return this.#known.has(key) && knows(this.#known.get(key), name);
  }

  /** What a server says of itself, attached to or not. */
  say(endpoint: Endpoint): Promise<Release | undefined> {
    const key = keyOf(endpoint);
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const asking = askRelease(endpoint, this.#tls);
    this.#asked.set(key, asking);
    return asking;
  }

  async #complete(endpoint: Endpoint): Promise<Release | undefined> {
    const isKeeper = this.#keepers.has(keyOf(endpoint));
    // In one flight with `srvr` where the handshake has told.
    const early = isKeeper ? this.#features() : undefined;
    const release = await this.say(endpoint);
    if (!isKeeper && release?.product !== "ClickHouse Keeper") return release;
    const features = await (early ?? this.#features());
    return { product: "ClickHouse Keeper", version: release?.version, features };
  }

  async #features() {
    const [flags, apiVersion] = await Promise.all([
      this.#readNode(FEATURES_PATH),
      this.#readNode(API_VERSION_PATH),
    ]);
    return readFeatures(flags, apiVersion);
  }
}

/** Identifies a server by its address, not by its name. */
export function keyOf({ ip, port }: Endpoint): string {
  return `${ip} ${port}`;
}
