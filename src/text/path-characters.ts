/**
 * Whether ZooKeeper's PathUtils refuses a UTF-16 unit in a path. Surrogates are among them, so no
 * emoji.
 */
export function isForbiddenInPath(unit: number): boolean {
  return (
    unit <= 0x1f ||
    (unit >= 0x7f && unit <= 0x9f) ||
    (unit >= 0xd800 && unit <= 0xf8ff) ||
    unit >= 0xfff0
  );
}
