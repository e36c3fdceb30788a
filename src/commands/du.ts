import { UsageError } from "../errors.ts";
import { ChildLists } from "../recipes/trees/child-lists.ts";
import { readTree } from "../recipes/trees/read-tree.ts";
import { Largest, type Subtree, TreeSums } from "../recipes/trees/sum-tree.ts";
import type { NearLimitResult, SizeUnit } from "../results/trees.ts";
import { JUTE_MAXBUFFER, NEAR_LIMIT } from "../session/jute-maxbuffer.ts";
import { option, optional, type ValueParser, znodePath } from "./arguments.ts";
import { oneOf } from "./choices.ts";
import { defineCommand } from "./command.ts";
import { depth } from "./find.ts";
import { Unreadable } from "./unreadable.ts";

const SUBTREES_PER_RESULT = 1_000;

const units: readonly SizeUnit[] = ["bytes", "znodes", "children"];

const unit = oneOf(units, "unit");

const count: ValueParser<number> = (text) => {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`bad number '${text}'`, { hint: "use a whole number from 1 on" });
};

export const du = defineCommand({
  details:
    "Sums the data of each subtree, the znode itself included; a subtree comes after those " +
    "below it. --top shows the largest " +
    "znodes, subtrees and parents of one walk. Data and lists of children that take more than " +
    "70 % of jute.maxbuffer are named on " +
    "stderr: beyond it servers hang up.",
  examples: ["du /app", "du -d 1 /", "du --top 10 /", "du --by znodes -d 1 /"],
  effect: "read",
  args: { path: optional(znodePath, "the root (the working znode, when left out)") },
  options: {
    depth: option("-d", "n", depth, "how many levels below PATH to show (all, when left out)"),
    top: option("", "n", count, "show the n largest znodes, subtrees and parents instead"),
    by: option("", "unit", unit, "bytes, znodes or children: what is shown first, and sorted by"),
  },
  async *run(
    context,
    { path = context.shell.cwd },
    { depth: maxDepth = Infinity, top, by = "bytes" },
  ) {
    const { signal, output } = context;
    const unreadable = new Unreadable();
    const sums = new TreeSums(path);
    const largest = {
      znodes: new Largest<{ path: string; bytes: number }>(top ?? 1, ({ bytes }) => bytes),
      subtrees: new Largest<Subtree>(top ?? 1, (subtree) => subtree[by]),
      parents: new Largest<{ path: string; children: number }>(top ?? 1, (one) => one.children),
    };
    const lists = new ChildLists();
    let subtrees: Subtree[] = [];
    let read = 0;
    const take = (subtree: Subtree) => {
      if (top !== undefined) largest.subtrees.add(subtree);
      else if (subtree.depth <= maxDepth) subtrees.push(subtree);
    };
    const { onFailure } = unreadable;
    for await (const entries of readTree(context.session(), path, {
      signal,
      onFailure,
      statsOnly: true,
    })) {
      for (const { path: znode, stat } of entries) {
        for (const subtree of sums.add({ path: znode, stat })) take(subtree);
        if (top !== undefined) {
          largest.znodes.add({ path: znode, bytes: stat.dataLength });
          largest.parents.add({ path: znode, children: stat.numChildren });
        }
        yield* nearLimit(znode, "data", stat.dataLength);
        for (const wide of lists.add(znode, stat))
          yield* nearLimit(wide.path, "children", wide.bytes);
      }
      read += entries.length;
      output.onProgress?.(read, "znodes read");
      if (subtrees.length >= SUBTREES_PER_RESULT) {
        yield { kind: "disk-usage", subtrees, by };
        subtrees = [];
      }
      signal.throwIfAborted();
    }
    for (const subtree of sums.end()) take(subtree);
    for (const wide of lists.end()) yield* nearLimit(wide.path, "children", wide.bytes);
    if (top === undefined) yield { kind: "disk-usage", subtrees, by };
    else {
      yield {
        kind: "largest",
        path,
        znodes: largest.znodes.items,
        subtrees: largest.subtrees.items,
        parents: largest.parents.items,
      };
    }
    yield* unreadable.report();
  },
});

function* nearLimit(
  path: string,
  what: NearLimitResult["what"],
  bytes: number,
): Generator<NearLimitResult> {
  if (bytes > JUTE_MAXBUFFER * NEAR_LIMIT)
    yield { kind: "near-limit", path, what, bytes, limit: JUTE_MAXBUFFER };
}
