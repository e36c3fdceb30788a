/**
 * Finds the znodes whose paths match a glob, level by level: each level that has a pattern is listed
 * in multiReads, a few of them under way at a time. Sets no watches.
 */
import { NoNodeError, UsageError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { globMatcher, hasGlob, unescapeGlob } from "../../text/glob.ts";

/** Limits the memory, and what one line can do by mistake. */
const MOST_PATHS = 100_000;
/** The requests of one group: their replies are kept together. */
const UNDER_WAY = 4;
const PER_READ = 64;
const STATS_AT_ONCE = 1_000;

/**
 * Returns the paths sorted by UTF-16 unit, or undefined where a znode has exactly the name `path`:
 * it alone is meant then. Throws NoNodeError where nothing matches, and when a znode may not be
 * listed: a list with gaps must not be deleted or trusted.
 */
export async function matchGlob(
  session: Session,
  { path, glob }: { readonly path: string; readonly glob: string },
  { signal }: { readonly signal: AbortSignal },
): Promise<string[] | undefined> {
  if (await session.exists(path, { signal })) return undefined;
  const paths = await matching(session, glob, signal);
  if (paths.length > 0) return paths;
  throw new NoNodeError("no-node", `no znode matches ${glob}`, { path: glob });
}

async function matching(session: Session, glob: string, signal: AbortSignal): Promise<string[]> {
  let paths = ["/"];
  let mayBeMissing = false;
  for (const segment of glob.split("/").filter((part) => part !== "")) {
    if (hasGlob(segment)) {
      const matches = globMatcher(segment);
      const below: string[] = [];
      for await (const { path, children } of listings(session, paths, signal)) {
        for (const name of children) if (matches(name)) below.push(joinPath(path, name));
        if (below.length > MOST_PATHS)
          throw new UsageError(`more than ${MOST_PATHS} znodes match ${glob}`, {
            hint: "use a narrower pattern, or find with --name",
          });
      }
      paths = below;
      mayBeMissing = false;
    } else {
      const name = unescapeGlob(segment);
      paths = paths.map((path) => joinPath(path, name));
      mayBeMissing = true;
    }
  }
  return (mayBeMissing ? await existing(session, paths, signal) : paths).sort();
}

interface Listing {
  readonly path: string;
  readonly children: readonly string[];
}

/** Znodes that do not exist have no listing. */
async function* listings(
  session: Session,
  paths: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Listing> {
  for (let start = 0; start < paths.length; start += UNDER_WAY * PER_READ) {
    const reads = Array.from({ length: UNDER_WAY }, (_, index) => start + index * PER_READ)
      .map((from) => paths.slice(from, from + PER_READ))
      .filter((group) => group.length > 0)
      .map((group) =>
        session.multiRead(
          group.map((path) => ({ op: "getChildren", path })),
          { signal },
        ),
      );
    for (const result of (await Promise.all(reads)).flat()) {
      if (result.op === "getChildren") yield result;
      else if (result.op === "error" && !(result.error instanceof NoNodeError)) throw result.error;
    }
  }
}

async function existing(
  session: Session,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  for (let start = 0; start < paths.length; start += STATS_AT_ONCE) {
    const group = paths.slice(start, start + STATS_AT_ONCE);
    const stats = await Promise.all(group.map((path) => session.exists(path, { signal })));
    found.push(...group.filter((_, index) => stats[index] !== undefined));
  }
  return found;
}
