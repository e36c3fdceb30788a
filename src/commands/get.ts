import type { Result } from "../results/result.ts";
import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { readOptions } from "./request-options.ts";
import { forEachPath, furtherPaths, isOldWatch, pathWords } from "./several-paths.ts";

export const get = defineCommand({
  details:
    "In a pipe the exact bytes are written, nothing added, also between several znodes. On a terminal JSON is indented, " +
    "binary data is shown as a hex dump, and what is longer than 200 lines is cut (--all shows the rest); of several " +
    "znodes each begins with its path. Those that could not be read are named, and the exit code is 8. The word watch " +
    "behind a single path is -w (zkCli's old form).",
  examples: ["get /zookeeper/config", "get -s /app/config", "get /app/config /app/limits"],
  effect: "read",
  args: { path: required(znodePath, "the znode"), paths: furtherPaths },
  options: {
    stat: flag("-s", "print its stat too"),
    watch: flag("-w", "watch for the next change (in the shell)"),
    base64: flag("-b", "print the data as base64"),
    hex: flag("-x", "print the data as a hex dump"),
    all: flag("", "on a terminal: print long data in full"),
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
