/** A zxid or session id as ZooKeeper writes it. Ids of servers from 128 on are negative as numbers. */
export function hexId(id: bigint): string {
  return `0x${BigInt.asUintN(64, id).toString(16)}`;
}

/** Ids read from different sources may differ in their sign alone. */
export function isSameId(a: bigint, b: bigint): boolean {
  return BigInt.asUintN(64, a) === BigInt.asUintN(64, b);
}
