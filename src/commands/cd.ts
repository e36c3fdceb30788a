import { NoNodeError, UsageError } from "../errors.ts";
import { optional, type ValueParser, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

const PREVIOUS = "-";

/** A path, which may end in `/`, or `-` for the previous working znode. */
const place: ValueParser<string> = (text, where) =>
  text === PREVIOUS
    ? PREVIOUS
    : znodePath(/[^/]/.test(text) ? text.replace(/\/+$/, "") : "/", where);

export const cd = defineCommand({
  details:
    "Relative paths start at the working znode, which the prompt shows. cd without a path goes " +
    "to /; cd - goes back to the " +
    "previous working znode.",
  examples: ["cd /zookeeper", "cd"],
  effect: "none",
  args: { path: optional(place, "the new working znode, or - for the previous one") },
  options: {},
  async run({ session, signal, shell }, { path: asked = "/" }) {
    const path = asked === PREVIOUS ? shell.previousCwd : asked;
    if (path === undefined) throw new UsageError("there is no previous working znode");
    if (!(await session().exists(path, { signal }))) {
      throw new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { code: -101, path });
    }
    shell.changeDirectory(path);
    // `cd -` prints the new working znode, because the line does not name it.
    return { kind: "working-znode", path, hasMoved: asked !== PREVIOUS };
  },
});
