import type { Result } from "../results/result.ts";
import { option, required, version } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { fencedFlag, writerOf } from "./fenced.ts";
import { globPaths } from "./glob-paths.ts";
import { expectedVersion } from "./request-options.ts";
import {
  type FurtherWord,
  forEachPath,
  furtherPaths,
  isVersion,
  pathWords,
  refuseVersions,
} from "./several-paths.ts";
import { refuseInTransaction } from "./transaction-step.ts";
import { namingRoot, namingVersion } from "./write-failures.ts";

export const deleteNode = defineCommand({
  details:
    "Several znodes are deleted in the order given: name children before their parent. A znode " +
    "that cannot be deleted is " +
    "reported on stderr, the others are deleted, and the exit code is 8. delete PATH VERSION is " +
    "zkCli's old form of " +
    "delete -v VERSION PATH.",
  examples: ["delete /app/old", "delete -v 3 /app/old", "delete /app/old/a /app/old"],
  effect: "write",
  args: { path: required(globPaths, "the znode"), paths: furtherPaths },
  options: {
    version: option("-v", "version", version, "delete only if the data has this version"),
    fenced: fencedFlag,
  },
  oneFlight: (_context, args) => wordsOf(args).paths.length === 1,
  operations(args, options) {
    refuseInTransaction("delete", options, ["fenced"]);
    const { paths, oldWord } = wordsOf(args);
    refuseVersions(args.paths);
    const how = expectedVersion(options.version, versionOf(oldWord));
    return paths.map((path) => ({ op: "delete", path, ...how }));
  },
  run(context, args, options) {
    const { paths, oldWord } = wordsOf(args);
    refuseVersions(args.paths);
    const positional = versionOf(oldWord);
    const how = { signal: context.signal, ...expectedVersion(options.version, positional) };
    const writer = writerOf(context, options.fenced);
    const deleteOne = async (path: string): Promise<Result> => {
      await namingRoot(namingVersion(writer.delete(path, how), path, how), path);
      return { kind: "deleted", path, ...(oldWord !== undefined && { oldForm: "delete" }) };
    };
    return paths.length === 1
      ? deleteOne(paths[0] as string)
      : forEachPath(paths, "delete", deleteOne);
  },
});

function versionOf(word: string | undefined): number | undefined {
  return word === undefined ? undefined : (version(word, { cwd: "/" }) as number);
}

function wordsOf({
  path,
  paths,
}: {
  readonly path: readonly string[];
  readonly paths: readonly FurtherWord[];
}) {
  return pathWords(path, paths, ({ text }) => isVersion(text));
}
