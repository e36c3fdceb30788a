/**
 * The build puts this module in underscore's place: node-zookeeper-client calls no other function
 * of it in the files that we use, and the package takes 2 to 7 ms to load
 * (docs/adr/0005-start-up.md).
 */
export function shuffle<T>(list: readonly T[]): T[] {
  const keyed = list.map((item) => ({ item, key: Math.random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
