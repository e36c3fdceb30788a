/** What a znode's stat tells of the way it was created. */
import type { Stat } from "./session.ts";

export type NodeKind = "persistent" | "ephemeral" | "container" | "ttl";

/** The server marks containers and znodes with a TTL in the field of an ephemeral's owner. */
const CONTAINER = 1n << 63n;
const TTL_MARK = 0xffn;
const TTL_BITS = 40n;

export function kindOf({ ephemeralOwner }: Pick<Stat, "ephemeralOwner">): NodeKind {
  const owner = BigInt.asUintN(64, ephemeralOwner);
  if (owner === 0n) return "persistent";
  if (owner === CONTAINER) return "container";
  return owner >> 56n === TTL_MARK ? "ttl" : "ephemeral";
}

/** The TTL of a znode that has one, in milliseconds. */
export function ttlOf(stat: Pick<Stat, "ephemeralOwner">): number | undefined {
  if (kindOf(stat) !== "ttl") return undefined;
  return Number(BigInt.asUintN(Number(TTL_BITS), stat.ephemeralOwner));
}

/**
 * The number that the next sequential child gets: the server counts creates only, and tells creates
 * and deletes together as cversion.
 */
export function nextSequence({
  cversion,
  numChildren,
}: Pick<Stat, "cversion" | "numChildren">): number {
  return (cversion + numChildren) / 2;
}

/** Its name ends with the ten digits of a sequential znode. */
export function isSequentialName(name: string): boolean {
  return /\d{10}$/.test(name) || /-\d{9,10}$/.test(name);
}
