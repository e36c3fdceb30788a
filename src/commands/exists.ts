import type { Result } from "../results/result.ts";
import { required } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { globPaths } from "./glob-paths.ts";
import { forEachPath, furtherPaths, pathWords } from "./several-paths.ts";

export const exists = defineCommand({
  details:
    "The exit code is 0 if all the znodes exist, and 1 if one does not. With several paths, " +
    "each line in a pipe is: path, " +
    "tab, true or false.",
  examples: ["exists /zookeeper", "exists /app /app/config"],
  effect: "read",
  args: { path: required(globPaths, "the znode"), paths: furtherPaths },
  options: {},
  oneFlight: (_context, { path, paths }) => pathWords(path, paths).paths.length === 1,
  run({ session, signal }, args) {
    const { paths } = pathWords(args.path, args.paths);
    const isOneOfMany = paths.length > 1;
    const askOne = async (path: string): Promise<Result> => {
      const found = await session().exists(path, { signal });
      return { kind: "existence", path, exists: found !== undefined, isOneOfMany };
    };
    return isOneOfMany ? forEachPath(paths, "read", askOne) : askOne(paths[0] as string);
  },
});
