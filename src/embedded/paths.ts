/** The server's own checks of paths: a client may send any string. */
import { isForbiddenInPath } from "../text/path-characters.ts";

/** Znodes that cannot be deleted. */
export const SYSTEM_PATHS: ReadonlySet<string> = new Set([
  "/",
  "/zookeeper",
  "/zookeeper/quota",
  "/zookeeper/config",
]);

/** Splits a path at its last slash. The parent of a child of the root is "". */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const slash = path.lastIndexOf("/");
  return { parent: path.slice(0, slash), name: path.slice(slash + 1) };
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Returns true if ZooKeeper's PathUtils accepts the path. */
export function isValidPath(path: string): boolean {
  if (path === "/") return true;
  if (path[0] !== "/") return false;
  for (let i = 1, start = 1; i <= path.length; i++) {
    const unit = i === path.length ? SLASH : path.charCodeAt(i);
    if (unit === SLASH) {
      if (isDots(path, start, i)) return false;
      start = i + 1;
    } else if (isForbiddenInPath(unit)) return false;
  }
  return true;
}

const SLASH = 0x2f;
const DOT = 0x2e;

/** True for an empty name, `.` and `..`. */
function isDots(path: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (path.charCodeAt(i) !== DOT) return false;
  return end - start <= 2;
}

/**
 * Formats like Java's `%010d`: ten characters, with the minus sign of a counter that has
 * overflowed.
 */
export function formatSequence(counter: number): string {
  return counter < 0 ? `-${String(-counter).padStart(9, "0")}` : String(counter).padStart(10, "0");
}
