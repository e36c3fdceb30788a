import { UsageError } from "../errors.ts";
import type { DataResult } from "../results/znodes.ts";
import { flag, option, required } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { viewed, viewKind } from "./data-view.ts";
import { globPaths } from "./glob-paths.ts";
import { readOptions } from "./request-options.ts";
import { forEachPath, furtherPaths, isOldWatch, pathWords } from "./several-paths.ts";

export const get = defineCommand({
  details:
    "In a pipe get writes the exact bytes and adds nothing. On a terminal it indents JSON, unpacks " +
    "gzip, reads Java-serialised strings and protobuf, and shows other binary data in hex. " +
    "Of several znodes one that cannot be read is reported, and the exit code is 8. " +
    "get PATH watch is zkCli's form of get -w PATH.",
  examples: ["get -s /app/config", "get /app/config /app/limits", "get --view gzip /app/state"],
  effect: "read",
  args: { path: required(globPaths, "the znode"), paths: furtherPaths },
  options: {
    stat: flag("-s", "print the stat too"),
    watch: flag("-w", "report the next change (only in the shell)"),
    base64: flag("-b", "print the data as base64"),
    hex: flag("-x", "print the data as a hex dump"),
    view: option("", "kind", viewKind, "auto, text, json, hex, gzip, java or protobuf"),
    all: flag("", "print all rows on a terminal, not 200"),
  },
  oneFlight: (_context, { path, paths }) => pathWords(path, paths, isOldWatch).paths.length === 1,
  run(context, args, { stat: withStat, watch, base64, hex, view, all: isWhole }) {
    const { paths, oldWord } = pathWords(args.path, args.paths, isOldWatch);
    const isOld = oldWord !== undefined;
    const options = readOptions(context, watch || isOld);
    const encoding = hex ? "hex" : base64 ? "base64" : "auto";
    if (view !== undefined && encoding !== "auto")
      throw new UsageError("--view and -b or -x exclude each other");
    const isOneOfMany = paths.length > 1;
    const getOne = async (path: string): Promise<DataResult> => {
      const { data, stat } = await context.session().getData(path, options);
      const oldForm = isOld ? "get" : undefined;
      return { kind: "data", path, data, stat, withStat, encoding, isWhole, isOneOfMany, oldForm };
    };
    const show = (result: DataResult) => viewed(result, view, context.output.isForPeople);
    return isOneOfMany
      ? forEachPath(paths, "read", getOne, show)
      : getOne(paths[0] as string).then(show);
  },
});
