/** `ls -l`: znodes with their stats. */
import type { Result } from "../results/result.ts";
import type { LongListingResult } from "../results/znodes.ts";
import type { Stat } from "../session/session.ts";
import type { Context } from "./command.ts";
import { treePaths } from "./whole-tree.ts";

/** The number of stats requested together. */
const STATS_AT_ONCE = 1_000;

/** Returns the stats of `paths`, without znodes that were deleted in the meantime. */
export async function longListing(
  { session, signal }: Context,
  paths: readonly string[],
  { isRecursive = false, isContinued = false } = {},
): Promise<LongListingResult> {
  const entries: { path: string; stat: Stat }[] = [];
  for (let start = 0; start < paths.length; start += STATS_AT_ONCE) {
    const group = paths.slice(start, start + STATS_AT_ONCE);
    const stats = await Promise.all(group.map((path) => session().exists(path, { signal })));
    for (const [index, path] of group.entries()) {
      const stat = stats[index];
      if (stat) entries.push({ path, stat });
    }
  }
  return { kind: "long-listing", entries, isRecursive, isContinued };
}

/** Yields the stats of all znodes below `root`, batch by batch. */
export async function* longTree(context: Context, root: string): AsyncGenerator<Result> {
  let isContinued = false;
  for await (const { paths } of treePaths(context, root)) {
    yield await longListing(context, paths, { isRecursive: true, isContinued });
    isContinued = true;
  }
}
