import { OperationError, PartialError, UsageError } from "../errors.ts";
import { readPaths, treePaths } from "../recipes/trees/read-tree.ts";
import type { Result } from "../results/result.ts";
import { flag, option, optional, programToRun, type ValueParser, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { type FindTest, type FindTestValues, findTest, findTests } from "./find-tests.ts";
import { runOnce, runPerPath } from "./run-on-paths.ts";
import { Unreadable } from "./unreadable.ts";

export const depth: ValueParser<number> = (text) => {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UsageError(`bad depth '${text}'`, { hint: "a depth is a whole number from 0 on" });
};

export const find = defineCommand({
  details:
    "A program behind -- runs for each path that meets all tests, one after the other; with + as " +
    "its last word once for all of them (or a few times, where the command line gets too long), " +
    "and {} is then a word of its own. Exit code 8 where it fails. -0 is for other programs: " +
    "find / -0 in a pipe to xargs -0.",
  examples: [
    "find /app --name '*.json'",
    "find / --kind ephemeral --newer 1h",
    "find /app --empty -- echo {}",
    "find /app --name '*.json' -- echo {} +",
  ],
  effect: "read",
  args: {
    path: optional(znodePath, "where to begin (default: here)"),
    program: programToRun("what to run for each path; {} is the path, no shell"),
  },
  options: {
    ...findTests,
    depth: option("", "n", depth, "how many levels below PATH to search"),
    null: flag("-0", "end each path with a NUL byte, for xargs -0"),
  },
  async *run(context, { path = context.shell.cwd, program }, { depth: maxDepth, ...options }) {
    const unreadable = new Unreadable();
    const matches = findPaths(context, path, { ...options, maxDepth, unreadable });
    const [file, ...rest] = program;
    if (file === undefined) {
      let hasFound = false;
      for await (const paths of matches) {
        hasFound ||= paths.length > 0;
        if (paths.length > 0) yield { kind: "found", paths, endsWithNul: options.null };
      }
      if (!hasFound) refuseHiddenKind(options.kind);
    } else {
      const argv: readonly [string, ...string[]] = [file, ...rest];
      const isOnce = rest.at(-1) === "+";
      const failed = isOnce
        ? await runOnce(context, argv.slice(0, -1) as [string, ...string[]], matches)
        : await runPerPath(context, argv, matches);
      if (failed > 0) {
        yield* tolerantReport(unreadable);
        throw new PartialError(
          "partial",
          `${file} failed ${failed === 1 ? "once" : `${failed} times`}`,
        );
      }
    }
    yield* unreadable.report();
  },
});

/** An empty answer would be untrue where the server hides the kinds of znodes. */
function refuseHiddenKind(kind: FindTestValues["kind"]): void {
  if (kind !== "container" && kind !== "ttl") return;
  const what = kind === "ttl" ? "znodes with a TTL" : "containers";
  const which = kind === "ttl" ? "have a TTL" : "are containers";
  throw new OperationError("hidden-kind", `found no ${what}`, {
    hint: `Apache ZooKeeper does not tell clients which znodes ${which}; ClickHouse Keeper does`,
  });
}

/** Names what could not be read where another failure is thrown anyway. */
function* tolerantReport(unreadable: Unreadable): Generator<Result> {
  try {
    yield* unreadable.report();
  } catch (error) {
    if (!(error instanceof PartialError)) throw error;
  }
}

interface FindOptions extends FindTestValues {
  readonly maxDepth: number | undefined;
  readonly unreadable: Unreadable;
}

async function* findPaths(
  context: Context,
  root: string,
  { maxDepth, unreadable, ...values }: FindOptions,
): AsyncGenerator<string[]> {
  const { signal } = context;
  const session = context.session();
  const { onFailure } = unreadable;
  const test = findTest(values, { now: Date.now(), sessionId: () => session.id });
  const tree = treePaths(session, root, { signal, onFailure, maxDepth });
  const paths = candidates(tree, test, context);
  if (!test.byEntry) return yield* paths;
  const statsOnly = !test.needsData;
  for await (const entries of readPaths(session, paths, { signal, onFailure, statsOnly })) {
    yield entries.filter(test.byEntry).map(({ path }) => path);
    signal.throwIfAborted();
  }
}

async function* candidates(
  pieces: AsyncIterable<string[]>,
  { byPath }: FindTest,
  { signal, output }: Context,
): AsyncGenerator<string[]> {
  let searched = 0;
  for await (const paths of pieces) {
    searched += paths.length;
    output.onProgress?.(searched, "znodes searched");
    yield paths.filter(byPath);
    signal.throwIfAborted();
  }
}
