import { NoNodeError, UsageError } from "../errors.ts";
import { optional, type ValueParser, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

const PREVIOUS = "-";

/** As a path, but it may end in `/`, and `-` is where one was before. */
const place: ValueParser<string> = (text, where) =>
  text === PREVIOUS
    ? PREVIOUS
    : znodePath(/[^/]/.test(text) ? text.replace(/\/+$/, "") : "/", where);

export const cd = defineCommand({
  details:
    "Relative paths start at the working znode, which the prompt shows. Without a path it is / again; - goes back.",
  examples: ["cd /zookeeper", "cd"],
  effect: "none",
  args: { path: optional(place, "the znode to go to, or - for the one before") },
  options: {},
  async run({ session, signal, shell }, { path: asked = "/" }) {
    const path = asked === PREVIOUS ? shell.previousCwd : asked;
    if (path === undefined) throw new UsageError("there is no znode before this one");
    if (!(await session().exists(path, { signal }))) {
      throw new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { code: -101, path });
    }
    shell.changeDirectory(path);
    // Where `-` leads to is not what was typed, so it is shown.
    return { kind: "working-znode", path, hasMoved: asked !== PREVIOUS };
  },
});
