import type { OpcodeName } from "../../../wire/protocol.ts";
import type { TlsOptions } from "../../options.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import { KEEPER, type KeeperFeatures, keeperHas } from "./keeper-features.ts";
import type { Endpoint } from "./link.ts";
import { isAtLeast, type Version } from "./version-number.ts";

/** What a server is, as far as it says so. */
export interface Release {
  readonly product: "ZooKeeper" | "ClickHouse Keeper";
  readonly version: Version | undefined;
  /** Of ClickHouse Keeper alone. */
  readonly features?: KeeperFeatures | undefined;
}

/**
 * The first release of Apache ZooKeeper that knows an operation. A server answers an unknown one by
 * closing the connection: better not to ask.
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
};

/**
 * Whether a server of this release has an operation; one that does not say is taken for a current
 * Apache ZooKeeper.
 */
export function knows(release: Release | undefined, name: OpcodeName): boolean {
  if (release === undefined) return true;
  if (release.product === "ClickHouse Keeper") return keeperHas(release, name);
  const least = SINCE[name];
  return least === undefined || release.version === undefined || isAtLeast(release.version, least);
}

/** Why a server of this release is not asked for an operation. */
export function lacking({ product, version }: Release, name: OpcodeName): string {
  const is = version === undefined ? "" : `; this server is ${version.join(".")}`;
  if (product === "ZooKeeper") return `${name} needs ZooKeeper ${SINCE[name]?.join(".")}${is}`;
  const rule = KEEPER[name];
  if (rule === undefined || rule === "never") return `${name} is not on ClickHouse Keeper${is}`;
  const [major, minor] = rule.since;
  const from = `${major}.${minor}`;
  const isOff = version !== undefined && isAtLeast(version, rule.since);
  return isOff
    ? `${name} is not on ClickHouse Keeper unless its feature flag is on${is}`
    : `${name} is not on ClickHouse Keeper before ${from}${is}`;
}

/** The release of a server, by its `srvr`; undefined when it does not say (the word can be off). */
export async function askRelease(
  endpoint: Endpoint,
  tls: TlsOptions | undefined,
): Promise<Release | undefined> {
  try {
    const server = { host: endpoint.ip, port: endpoint.port };
    const named = tls === undefined ? tls : { servername: endpoint.host, ...tls };
    return parseRelease(await fourLetterWord(server, "srvr", named));
  } catch {
    // No answer to a courtesy question: assume a current release, as with a server that will not
    // say.
    return undefined;
  }
}

/** Undefined for an answer without a version. */
export function parseRelease(srvr: string): Release | undefined {
  const found = /^([A-Za-z ]{0,40})version:\s*v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})/im.exec(srvr);
  if (found === null) return undefined;
  const [, name = "", ...numbers] = found;
  const [major = 0, minor = 0, patch = 0] = numbers.map(Number);
  const product = /clickhouse/i.test(name) ? "ClickHouse Keeper" : "ZooKeeper";
  return { product, version: [major, minor, patch] };
}
