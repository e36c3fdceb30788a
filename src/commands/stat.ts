import { NoNodeError } from "../errors.ts";
import type { Result } from "../results/result.ts";
import { flag, required } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { globPaths } from "./glob-paths.ts";
import { readOptions } from "./request-options.ts";
import { forEachPath, furtherPaths, isOldWatch, pathWords } from "./several-paths.ts";

export const stat = defineCommand({
  details:
    "ephemeralOwner is the session that owns an ephemeral znode: session ID shows its client. " +
    "With several paths, each path is printed before its stat; a znode that cannot be read is " +
    "reported on stderr, the " +
    "others are printed, and the exit code is 8. stat PATH watch is zkCli's old form of stat -w " +
    "PATH.",
  examples: ["stat /zookeeper", "stat /zookeeper /zookeeper/config"],
  effect: "read",
  args: { path: required(globPaths, "the znode"), paths: furtherPaths },
  options: { watch: flag("-w", "report the next change (only in the shell)") },
  oneFlight: (_context, { path, paths }) => pathWords(path, paths, isOldWatch).paths.length === 1,
  run(context, args, { watch }) {
    const { paths, oldWord } = pathWords(args.path, args.paths, isOldWatch);
    const isOld = oldWord !== undefined;
    const options = readOptions(context, watch || isOld);
    const isOneOfMany = paths.length > 1;
    const statOne = async (path: string): Promise<Result> => {
      const found = await context.session().exists(path, options);
      if (!found)
        throw new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { code: -101, path });
      return { kind: "stat", path, stat: found, isOneOfMany, ...(isOld && { oldForm: "stat" }) };
    };
    return isOneOfMany ? forEachPath(paths, "read", statOne) : statOne(paths[0] as string);
  },
});
