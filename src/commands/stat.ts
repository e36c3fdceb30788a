import { NoNodeError } from "../errors.ts";
import { flag, optional, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { oldWatch, readOptions } from "./request-options.ts";

export const stat = defineCommand({
  examples: ["stat /zookeeper"],
  effect: "read",
  args: {
    path: required(znodePath, "the znode"),
    watch: optional(oldWatch, "the word watch: as -w (zkCli's old form)"),
  },
  options: { watch: flag("-w", "watch for the next change (in the shell)") },
  oneFlight: true,
  async run(context, { path, watch: old = false }, { watch }) {
    const found = await context.session().exists(path, readOptions(context, watch || old));
    if (!found) throw new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { code: -101, path });
    return { kind: "stat", path, stat: found, ...(old && { oldForm: "stat" }) };
  },
});
