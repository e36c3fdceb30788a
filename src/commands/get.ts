import { flag, optional, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { oldWatch, readOptions } from "./request-options.ts";

export const get = defineCommand({
  details:
    "In a pipe the exact bytes are written, nothing added. On a terminal JSON is indented and binary data is shown as a hex dump.",
  examples: ["get /zookeeper/config", "get -s /app/config"],
  effect: "read",
  args: {
    path: required(znodePath, "the znode"),
    watch: optional(oldWatch, "the word watch: as -w (zkCli's old form)"),
  },
  options: {
    stat: flag("-s", "print its stat too"),
    watch: flag("-w", "watch for the next change (in the shell)"),
    base64: flag("-b", "print the data as base64"),
    hex: flag("-x", "print the data as a hex dump"),
  },
  oneFlight: true,
  async run(context, { path, watch: old = false }, { stat: withStat, watch, base64, hex }) {
    const { data, stat } = await context.session().getData(path, readOptions(context, watch || old));
    const encoding = hex ? "hex" : base64 ? "base64" : "auto";
    return { kind: "data", path, data, stat, withStat, encoding, oldForm: old ? "get" : undefined };
  },
});
