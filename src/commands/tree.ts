import { LastChildren } from "../recipes/trees/last-children.ts";
import { DepthFirstOrder } from "../recipes/trees/path-order.ts";
import { readPaths } from "../recipes/trees/read-tree.ts";
import { walk } from "../recipes/trees/walk.ts";
import type { TreeLine } from "../results/trees.ts";
import { flag, option, optional, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { depth } from "./find.ts";
import { Unreadable } from "./unreadable.ts";

export const tree = defineCommand({
  details:
    "On a terminal name* is ephemeral. With --json one object a znode. With -s and -d znodes " +
    "that vanish meanwhile are left out.",
  examples: ["tree /app", "tree / -L 2", "tree -s /app", "tree -d /app"],
  effect: "read",
  args: { path: optional(znodePath, "the root (the working znode, when left out)") },
  options: {
    level: option("-L", "depth", depth, "how many levels to show"),
    sizes: flag("-s", "show the size of the data and the number of children"),
    data: flag("-d", "show the data, cut to what fits on the line"),
  },
  async *run(context, { path = context.shell.cwd }, { level, sizes, data }) {
    const { signal } = context;
    const session = context.session();
    const unreadable = new Unreadable();
    const { onFailure } = unreadable;
    const last = new LastChildren();
    const toLine = (znode: Pick<TreeLine, "path" | "stat" | "data">): TreeLine => ({
      ...znode,
      isLast: last.branch(znode.path, path),
      showsStat: sizes,
    });
    const paths = async function* () {
      const order = new DepthFirstOrder();
      for await (const visits of walk(session, path, { signal, onFailure, maxDepth: level })) {
        last.add(visits);
        yield* order.add(visits);
      }
      yield* order.end();
    };
    if (sizes || data) {
      const options = { signal, onFailure, statsOnly: !data };
      for await (const entries of readPaths(session, paths(), options)) {
        yield { kind: "tree-lines", lines: entries.map(toLine) };
        signal.throwIfAborted();
      }
    } else {
      for await (const piece of paths()) {
        yield { kind: "tree-lines", lines: piece.map((one) => toLine({ path: one })) };
        signal.throwIfAborted();
      }
    }
    yield* unreadable.report();
  },
});
