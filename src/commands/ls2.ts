import { optional, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { oldWatch, readOptions } from "./request-options.ts";

export const ls2 = defineCommand({
  details: "ls2 is zkCli's old name for ls -s.",
  examples: ["ls2 /zookeeper"],
  effect: "read",
  args: {
    path: required(znodePath, "the znode"),
    watch: optional(oldWatch, "the word watch: zkCli's old form of ls -w"),
  },
  options: {},
  oneFlight: true,
  async run(context, { path, watch = false }) {
    const { children, stat } = await context
      .session()
      .getChildren2(path, readOptions(context, watch));
    return { kind: "children", path, children: children.sort(), stat, oldForm: "ls2" };
  },
});
