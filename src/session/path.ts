import { UsageError } from "../errors.ts";
import { isForbiddenInPath } from "../text/path-characters.ts";

const SLASH = 0x2f;
const DOT = 0x2e;

/**
 * Throws UsageError, in zkCli's words, unless `path` can name a znode. A sequential create may end
 * with a slash.
 */
export function validatePath(path: string, { sequential = false } = {}): void {
  const { length } = path;
  if (length === 0) throw badPath(path, "Path length must be > 0");
  if (path.charCodeAt(0) !== SLASH) throw badPath(path, "Path must start with / character");
  if (length === 1) return;
  if (!sequential && path.charCodeAt(length - 1) === SLASH) {
    throw badPath(path, "Path must not end with / character");
  }
  let start = 1;
  for (let i = 1; i < length; i++) {
    const unit = path.charCodeAt(i);
    if (unit === SLASH) {
      checkName(path, start, i);
      start = i + 1;
    } else if (unit === 0) throw badCharacter(path, "null character not allowed", i);
    else if (isForbiddenInPath(unit)) throw badCharacter(path, "invalid character", i);
  }
  // The server's number is the end of the name, which makes any name good.
  if (!sequential) checkName(path, start, length);
}

function checkName(path: string, start: number, end: number): void {
  if (end === start) throw badCharacter(path, "empty node name specified", end);
  if (path.charCodeAt(start) !== DOT || end - start > 2) return;
  if (end - start === 1 || path.charCodeAt(start + 1) === DOT) {
    throw badCharacter(path, "relative paths not allowed", end - 1);
  }
}

function badCharacter(path: string, what: string, index: number): UsageError {
  return badPath(path, `Invalid path string "${path}" caused by ${what} @${index}`);
}

function badPath(path: string, message: string): UsageError {
  return new UsageError(message, { reason: "bad-path", path });
}

/** The parent of a znode; the parent of `/` is `/`. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

/** The last component: `""` for `/`. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** `parent` and `name` as one path. */
export function joinPath(parent: string, name: string): string {
  return parent === "/" ? `/${name}` : `${parent}/${name}`;
}

/** The path of a znode below `from` when its tree is below `to`. */
export function movedPath(path: string, from: string, to: string): string {
  const below = path === from ? "" : path.slice(from === "/" ? 0 : from.length);
  if (below === "") return to;
  return to === "/" ? below : `${to}${below}`;
}

/** All parents of a path, from the top down, without `/`. */
export function ancestors(path: string): string[] {
  const parent = parentPath(path);
  return parent === "/" ? [] : [...ancestors(parent), parent];
}

/**
 * Relative paths start at `cwd` and may go up; absolute ones are taken as they are, so that
 * `/a/../b` stays an error.
 */
export function resolvePath(text: string, cwd: string): string {
  if (text === "" || text.startsWith("/")) return text;
  const names = cwd.split("/").filter((name) => name !== "");
  const steps = text.split("/");
  const last = steps.at(-1);
  for (const [index, step] of steps.entries()) {
    if (step === "..") names.pop();
    else if (step !== "." && (step !== "" || index < steps.length - 1)) names.push(step);
  }
  const path = `/${names.join("/")}`;
  return last === "" && path !== "/" ? `${path}/` : path;
}

/**
 * Throws UsageError for an empty path, and for an absolute path with `.`, `..` or `//` in it. The
 * messages are easier to read than those of {@link validatePath}, which are zkCli's.
 */
export function refuseSteps(text: string): void {
  if (text === "") throw badPath(text, "the path is empty");
  if (text.startsWith("/") && text.includes("//"))
    throw badPath(text, `${text}: a path cannot contain //`);
  // A quick check first, because a long script has many paths.
  const [, step] = (text.includes("/.") && /^\/(?:.*\/)?(\.\.?)(?:\/|$)/s.exec(text)) || [];
  if (step === undefined) return;
  throw badPath(text, `${text}: "${step}" only works in relative paths`);
}
