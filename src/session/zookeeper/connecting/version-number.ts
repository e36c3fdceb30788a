/** The number of a server's release. */
export type Version = readonly [major: number, minor: number, patch: number];

export function isAtLeast(version: Version, least: Version): boolean {
  for (let i = 0; i < least.length; i++) {
    const difference = (version[i] ?? 0) - (least[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
