/**
 * In what servers of ZooKeeper's protocol differ. The server is Apache ZooKeeper 3.8 unless it is
 * told to play ClickHouse Keeper, for tests of clients that meet both. What Keeper does is taken
 * from its source and documentation, not measured here.
 */
import { Opcode } from "../wire/protocol.ts";
import type { AclRecord, ConnectRequest } from "../wire/records.ts";
import { type AuthIdentity, OPEN_ACL, READ_ACL, resolveAcl } from "./access.ts";
import { SYSTEM_PATHS } from "./paths.ts";
import { refuse } from "./refusal.ts";

/** A znode that the server has from its start. Parents come first. */
interface SystemZnode {
  readonly path: string;
  readonly data?: Buffer;
  readonly acl?: readonly AclRecord[];
  readonly aversion?: number;
}

export interface Dialect {
  /** The name in front of the version in `srvr` and `stat`, and the version. */
  readonly product: string;
  readonly version: string;
  readonly systemZnodes: readonly SystemZnode[];
  /** The owner in the stat of a container. */
  readonly containerOwner: bigint;
  /** Sessions are resumed, with a password; otherwise each handshake opens a new one. */
  readonly resumesSessions: boolean;
  /** The answer to closeSession is sent before the connection is closed. */
  readonly answersClose: boolean;
  /** A read that fails in a multiRead has its error in its header, and no body. */
  readonly hasErrorsInHeaders: boolean;
  /** Set: every handshake is answered with this protocol version, and refused. */
  readonly refusedWith: number | undefined;
  /** The connection is closed without an answer. */
  lacks(opcode: number): boolean;
  acceptsPassword(request: ConnectRequest): boolean;
  /** Undefined where the server closes the connection without an answer. */
  answerTo(word: string, answer: () => string): string | undefined;
  knowsScheme(scheme: string): boolean;
  /** The ACL that is stored. */
  acl(
    asked: readonly AclRecord[],
    identities: readonly AuthIdentity[],
    doesSasl: boolean,
  ): readonly AclRecord[];
  /** A znode that cannot be deleted. */
  isKept(path: string): boolean;
  /** A znode that clients cannot create or change. */
  isReadOnly(path: string): boolean;
}

export const ZOOKEEPER: Dialect = {
  product: "Zookeeper",
  /** The release whose behaviour this server has: clients choose their operations by it. */
  version: "3.8.0-zksh-embedded, built on 2022-02-25 08:49 UTC",
  systemZnodes: [
    { path: "/zookeeper" },
    { path: "/zookeeper/quota" },
    { path: "/zookeeper/config", acl: READ_ACL, aversion: -1 },
  ],
  containerOwner: 0n,
  resumesSessions: true,
  answersClose: true,
  hasErrorsInHeaders: false,
  refusedWith: undefined,
  lacks: () => false,
  acceptsPassword: () => true,
  answerTo: (_word, answer) => answer(),
  knowsScheme: () => true,
  acl: resolveAcl,
  isKept: (path) => SYSTEM_PATHS.has(path),
  isReadOnly: () => false,
};

/** What a ClickHouse Keeper in memory is like. */
export interface KeeperOptions {
  /** `24.8.1` unless told otherwise. It decides which operations are known. */
  readonly version?: string;
  /** The numbers of the feature flags that are on. Left out: those of the version. */
  readonly features?: readonly number[];
  /** The password of every handshake; left out: none is asked for. */
  readonly password?: string;
  /** The four-letter words that are answered; left out: all that the server knows. */
  readonly words?: readonly string[];
  /** False: no leader, so that handshakes are refused with version 42. */
  readonly isActive?: boolean;
}

/** The limits of session timeouts, unless others are asked for. */
export const KEEPER_TIMEOUTS = { minSessionTimeoutMs: 10_000, maxSessionTimeoutMs: 100_000 };

const NOT_ACTIVE = 42;
const NOT_SERVING = "This instance is not currently serving requests";
const SYSTEM_ROOT = "/keeper";

/**
 * Operations of ZooKeeper by the release that has them first, 24.08 for 24.8; the others all
 * releases have.
 */
const SINCE: ReadonlyMap<number, number> = new Map([
  [Opcode.multiRead, 22.1],
  [Opcode.reconfig, 23.07],
  [Opcode.setWatches, 25.12],
  [Opcode.setWatches2, 25.12],
  [Opcode.addWatch, 25.12],
  [Opcode.checkWatches, 25.12],
  [Opcode.removeWatches, 25.12],
  [Opcode.create2, 25.12],
  [Opcode.createContainer, 26.07],
  [Opcode.createTtl, Number.POSITIVE_INFINITY],
  [Opcode.getEphemerals, Number.POSITIVE_INFINITY],
  [Opcode.getAllChildrenNumber, Number.POSITIVE_INFINITY],
  [Opcode.whoAmI, Number.POSITIVE_INFINITY],
  [Opcode.sasl, Number.POSITIVE_INFINITY],
]);

/** The feature flag that an operation needs besides. */
const FLAGS: ReadonlyMap<number, number> = new Map([
  [Opcode.multiRead, 1],
  [Opcode.setWatches, 7],
  [Opcode.setWatches2, 7],
  [Opcode.addWatch, 7],
  [Opcode.checkWatches, 7],
  [Opcode.removeWatches, 7],
  [Opcode.create2, 8],
]);
/** Releases from here on tell their flags. */
const TELLS_FLAGS = 23.07;
const TELLS_API_VERSION = 22.1;

export function keeperDialect(options: KeeperOptions): Dialect {
  const { version = "24.8.1", password, words, isActive = true } = options;
  const release = releaseOf(version);
  const features = new Set(options.features ?? featuresOf(release));
  const isSystem = (path: string) => path === SYSTEM_ROOT || path.startsWith(`${SYSTEM_ROOT}/`);
  return {
    product: "ClickHouse Keeper",
    version: `v${version}.1-zksh-embedded`,
    systemZnodes: [
      { path: SYSTEM_ROOT },
      ...(release >= TELLS_API_VERSION
        ? [{ path: `${SYSTEM_ROOT}/api_version`, data: Buffer.from("2") }]
        : []),
      ...(release >= TELLS_FLAGS
        ? [
            { path: `${SYSTEM_ROOT}/feature_flags`, data: flagBytes(features) },
            {
              path: `${SYSTEM_ROOT}/config`,
              data: Buffer.from("server.1=localhost:9234;participant;1"),
            },
          ]
        : []),
    ],
    containerOwner: -(1n << 63n),
    resumesSessions: false,
    answersClose: false,
    hasErrorsInHeaders: true,
    refusedWith: isActive ? undefined : NOT_ACTIVE,
    lacks(opcode) {
      const flag = FLAGS.get(opcode);
      const isOff = flag !== undefined && release >= TELLS_FLAGS && !features.has(flag);
      return isOff || (SINCE.get(opcode) ?? 0) > release;
    },
    acceptsPassword({ password: given }) {
      return password === undefined || trimmed(given) === password;
    },
    answerTo(word, answer) {
      if (words !== undefined && !words.includes(word)) return undefined;
      return isActive || word === "ruok" ? answer() : NOT_SERVING;
    },
    knowsScheme: (scheme) => scheme === "digest",
    acl: keeperAcl,
    isKept: (path) => path === "/" || isSystem(path),
    isReadOnly: isSystem,
  };
}

/**
 * Entries of other schemes than digest and auth are left out without a word, and so is an entry for
 * everybody: an ACL that has nothing else permits everything.
 */
function keeperAcl(
  asked: readonly AclRecord[],
  identities: readonly AuthIdentity[],
): readonly AclRecord[] {
  const proved = identities.filter(({ scheme }) => scheme === "digest");
  const stored = asked.flatMap((entry): AclRecord[] => {
    const { perms, scheme } = entry;
    if (scheme === "auth") return proved.map((own) => ({ perms, ...own }));
    return scheme === "digest" ? resolveAcl([entry], identities, false).slice() : [];
  });
  if (stored.length > 0) return stored;
  const isForAll = asked.some(({ scheme, id }) => scheme === "world" && id === "anyone");
  return isForAll ? OPEN_ACL : refuse("invalidAcl");
}

/** 24.08 for `24.8.1`. */
function releaseOf(version: string): number {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major + minor / 100;
}

function featuresOf(release: number): number[] {
  const persistentWatches = 7;
  const createWithStats = 8;
  return [0, 1, ...(release >= 25.12 ? [persistentWatches, createWithStats] : [])];
}

function flagBytes(features: ReadonlySet<number>): Buffer {
  const bytes = Buffer.alloc(Math.floor(Math.max(0, ...features) / 8) + 1);
  for (const flag of features) {
    const at = Math.floor(flag / 8);
    bytes[at] = (bytes[at] ?? 0) | (0x80 >> (flag % 8));
  }
  return bytes;
}

function trimmed(password: Uint8Array): string {
  return Buffer.from(password).toString("latin1").replace(/\0+$/, "");
}
