/** Paths as a server sees them. It trusts no client to have checked them. */

/** These cannot be deleted. */
export const SYSTEM_PATHS: ReadonlySet<string> = new Set([
  "/",
  "/zookeeper",
  "/zookeeper/quota",
  "/zookeeper/config",
]);

/**
 * Where a path is cut: what is before its last slash, and the name behind it. The root's children
 * have "" as parent.
 */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const slash = path.lastIndexOf("/");
  return { parent: path.slice(0, slash), name: path.slice(slash + 1) };
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/**
 * Whether a znode can be called so. The ranges are those of ZooKeeper's PathUtils, by UTF-16 unit.
 */
export function isValidPath(path: string): boolean {
  if (path === "/") return true;
  if (path[0] !== "/") return false;
  for (let i = 1, start = 1; i <= path.length; i++) {
    const unit = i === path.length ? SLASH : path.charCodeAt(i);
    if (unit === SLASH) {
      if (isDots(path, start, i)) return false;
      start = i + 1;
    } else if (isForbidden(unit)) return false;
  }
  return true;
}

const SLASH = 0x2f;
const DOT = 0x2e;

/** An empty name, `.` or `..`. */
function isDots(path: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (path.charCodeAt(i) !== DOT) return false;
  return end - start <= 2;
}

function isForbidden(unit: number): boolean {
  return (
    unit <= 0x1f ||
    (unit >= 0x7f && unit <= 0x9f) ||
    (unit >= 0xd800 && unit <= 0xf8ff) ||
    unit >= 0xfff0
  );
}

/**
 * Ten digits, as Java's `%010d` writes them: the sign of a counter that has run over takes one of
 * them.
 */
export function formatSequence(counter: number): string {
  return counter < 0 ? `-${String(-counter).padStart(9, "0")}` : String(counter).padStart(10, "0");
}
