import type { Result } from "../results/result.ts";
import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { readOptions } from "./request-options.ts";
import { forEachPath, furtherPaths, isOldWatch, pathWords } from "./several-paths.ts";

export const get = defineCommand({
  details:
    "In a pipe get writes the exact bytes and adds nothing, not even between several znodes. On " +
    "a terminal it indents JSON, " +
    "shows binary data as a hex dump and cuts the output after 200 lines. With several paths, " +
    "each path is printed before " +
    "its data; a znode that cannot be read is reported on stderr, the others are printed, and " +
    "the exit code is 8. " +
    "get PATH watch is zkCli's old form of get -w PATH.",
  examples: ["get /zookeeper/config", "get -s /app/config", "get /app/config /app/limits"],
  effect: "read",
  args: { path: required(znodePath, "the znode"), paths: furtherPaths },
  options: {
    stat: flag("-s", "print the stat too"),
    watch: flag("-w", "report the next change (only in the shell)"),
    base64: flag("-b", "print the data as base64"),
    hex: flag("-x", "print the data as a hex dump"),
    all: flag("", "print long data in full (on a terminal)"),
  },
  oneFlight: (_context, { path, paths }) => pathWords(path, paths, isOldWatch).paths.length === 1,
  run(context, args, { stat: withStat, watch, base64, hex, all: isWhole }) {
    const { paths, oldWord } = pathWords(args.path, args.paths, isOldWatch);
    const isOld = oldWord !== undefined;
    const options = readOptions(context, watch || isOld);
    const encoding = hex ? "hex" : base64 ? "base64" : "auto";
    const isOneOfMany = paths.length > 1;
    const getOne = async (path: string): Promise<Result> => {
      const { data, stat } = await context.session().getData(path, options);
      const oldForm = isOld ? "get" : undefined;
      return { kind: "data", path, data, stat, withStat, encoding, isWhole, isOneOfMany, oldForm };
    };
    return isOneOfMany ? forEachPath(paths, "read", getOne) : getOne(args.path);
  },
});
