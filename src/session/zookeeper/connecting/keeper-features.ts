/** What of ZooKeeper's protocol ClickHouse Keeper has. It hangs up on an operation that it lacks. */
import type { OpcodeName } from "../../../wire/protocol.ts";
import { isAtLeast, type Version } from "./version-number.ts";

/** The numbers of the feature flags that are on. */
export type KeeperFeatures = ReadonlySet<number>;

/** `flag`: it can be switched off, and the servers of a cluster say whether it is on. */
interface KeeperRule {
  readonly since: Version;
  readonly flag?: number;
}

const MULTI_READ = 1;
const PERSISTENT_WATCHES = 7;
const CREATE_WITH_STATS = 8;

const persistentWatches: KeeperRule = { since: [25, 12, 0], flag: PERSISTENT_WATCHES };

/** The operations that not every release has; those that are not here all of them have. */
export const KEEPER: Partial<Record<OpcodeName, KeeperRule | "never">> = {
  multiRead: { since: [22, 10, 0], flag: MULTI_READ },
  // It may be switched off: then it is refused like any other request.
  reconfig: { since: [23, 7, 0] },
  setWatches: persistentWatches,
  setWatches2: persistentWatches,
  addWatch: persistentWatches,
  checkWatches: persistentWatches,
  removeWatches: persistentWatches,
  // The first releases that have it answer with a stat that says 0 bytes of data (ClickHouse#108909).
  create2: { since: [26, 7, 0], flag: CREATE_WITH_STATS },
  createContainer: { since: [26, 7, 0] },
  // A TTL needs a switch that clients cannot see.
  createTtl: "never",
  getEphemerals: "never",
  getAllChildrenNumber: "never",
  whoAmI: "never",
};

/** What is not known for sure is not asked for: an unknown operation would cost the session. */
export function keeperHas(
  {
    version,
    features,
  }: { readonly version: Version | undefined; readonly features?: KeeperFeatures | undefined },
  name: OpcodeName,
): boolean {
  const rule = KEEPER[name];
  if (rule === undefined) return true;
  if (rule === "never") return false;
  if (rule.flag === undefined) return version !== undefined && isAtLeast(version, rule.since);
  const isOld = version !== undefined && !isAtLeast(version, rule.since);
  return !isOld && features?.has(rule.flag) === true;
}

/** Where Keeper says what it has; it has no chroot. */
export const FEATURES_PATH = "/keeper/feature_flags";
export const API_VERSION_PATH = "/keeper/api_version";
/** The API version of the releases without feature flags that have multiRead. */
const WITH_MULTI_READ = 2;

/**
 * The flags: flag n is bit 7-n%8 of byte n/8. Releases before 23.7 have an API version instead,
 * older ones neither. Both come from the server and are not trusted.
 */
export function readFeatures(
  flags: Buffer | null | undefined,
  apiVersion: Buffer | null | undefined,
): KeeperFeatures {
  if (flags) {
    const bits = [...flags.subarray(0, MAX_FLAG_BYTES)].flatMap((byte) =>
      Array.from({ length: 8 }, (_, bit) => (byte & (0x80 >> bit)) !== 0),
    );
    return new Set([...bits.keys()].filter((flag) => bits[flag]));
  }
  const version = Number(apiVersion?.subarray(0, 4).toString() ?? 0);
  return new Set(version >= WITH_MULTI_READ ? [MULTI_READ] : []);
}

const MAX_FLAG_BYTES = 64;
