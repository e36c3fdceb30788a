import { data, decodeBase64, flag, option, optional, required, version, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { expectedVersion } from "./request-options.ts";

export const set = defineCommand({
  details:
    "Data is text, - for stdin byte for byte, or @file; @@x is the text @x. Use -- before data that starts with a dash.",
  examples: ["set /app/config '{\"debug\":true}'", "set -v 3 /app/config off", "set /app/config @config.json"],
  effect: "write",
  args: {
    path: required(znodePath, "the znode"),
    data: required(data, "the new data: text, - (stdin) or @file"),
    version: optional(version, "as -v (zkCli's old form)"),
  },
  options: {
    stat: flag("-s", "print the new stat"),
    version: option("-v", "version", version, "only if the data has this version"),
    base64: flag("-b", "the data is base64: store what it stands for"),
  },
  oneFlight: true,
  async run({ session, signal }, { path, data: given, version: positional }, options) {
    const bytes = options.base64 ? decodeBase64(given) : given;
    const stat = await session().setData(path, bytes, { signal, ...expectedVersion(options.version, positional) });
    return { kind: "changed", path, stat, withStat: options.stat };
  },
});
