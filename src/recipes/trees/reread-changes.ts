/**
 * Reads the znodes that changed under an export again, until a pass ends without a change: the
 * lines are then what the server had at that moment.
 */
import type { ChangesUnder } from "./changed-under.ts";
import type { TreeExport } from "./export-tree.ts";

const MAX_PASSES = 10;
/** The lines that were read again are held in memory. */
const MAX_LENGTH = 64 * 1024 * 1024;

export interface RereadZnodes {
  /** The newest line of each; undefined where the znode is gone or left out. */
  readonly lines: ReadonlyMap<string, string | undefined>;
  readonly passes: number;
  /** The znodes that changed during the last pass: empty unless the limit was reached. */
  readonly unsettled: readonly string[];
}

/** Stops early when changes may have gone unnoticed: `changes.isComplete` is then false. */
export async function rereadChanges(
  tree: Pick<TreeExport, "linesOf">,
  changes: ChangesUnder,
  signal: AbortSignal,
): Promise<RereadZnodes> {
  const lines = new Map<string, string | undefined>();
  let length = 0;
  for (let passes = 0; ; passes++) {
    const paths = await changes.take(signal);
    const isOver = passes >= MAX_PASSES || length > MAX_LENGTH || !changes.isComplete;
    if (paths.length === 0 || isOver) return { lines, passes, unsettled: paths };
    for (const [path, line] of await tree.linesOf(paths)) {
      length += (line?.length ?? 0) - (lines.get(path)?.length ?? 0);
      lines.set(path, line);
    }
  }
}
