/** Shared by the commands that take several paths: reading the words and reporting failures. */
import { PartialError, UsageError } from "../errors.ts";
import { exitCodeOf } from "../exit-codes.ts";
import { refusalOf, type TreeFailure } from "../recipes/trees/tree-failures.ts";
import type { Result } from "../results/result.ts";
import type { FailedResult } from "../results/znodes.ts";
import { Outside, rest, type ValueParser } from "./arguments.ts";
import { globPaths } from "./glob-paths.ts";

/**
 * A word behind the first path: another path, or the last word of zkCli's old form (`get path
 * watch`).
 */
export interface FurtherWord {
  readonly text: string;
  /** Undefined in zkCli's own dialect, which knows one path only and ignores further words. */
  readonly paths: readonly string[] | undefined;
}

const furtherWord: ValueParser<FurtherWord> = (text, where) => {
  if (where.isVerbatim) return { text, paths: undefined };
  const paths = globPaths(text, where);
  if (!(paths instanceof Outside)) return { text, paths };
  return new Outside(async (reader) => ({ text, paths: await paths.read(reader) }));
};

export const furtherPaths = rest(furtherWord, "more znodes");

/** The words of a line: its paths, or one path and the last word of zkCli's old form. */
export interface PathWords {
  readonly paths: readonly string[];
  readonly oldWord?: string;
}

/** `isOldWord` tells whether the only word behind the first path belongs to zkCli's old form. */
export function pathWords(
  first: readonly string[],
  further: readonly FurtherWord[],
  isOldWord: (word: FurtherWord) => boolean = () => false,
): PathWords {
  const [second] = further;
  const isAlone = further.length === 1 || second?.paths === undefined;
  if (second && isAlone && isOldWord(second)) return { paths: first, oldWord: second.text };
  return { paths: [...first, ...further.flatMap(({ paths }) => paths ?? [])] };
}

/** `get path watch`: zkCli itself takes any word for it. */
export function isOldWatch({ text, paths }: FurtherWord): boolean {
  return paths === undefined || ["watch", "true", "1"].includes(text);
}

/** Limits memory: all replies of a group, up to 1 MB each, are kept together. */
const UNDER_WAY = 32;

/**
 * Calls `ask` for each path and yields the results in the same order. A path that fails becomes a
 * `failed` result and the others go on. At the end a failure is thrown: PartialError, or the last
 * error itself if all paths failed with the same exit code. `finish` is called for one result at a
 * time, just before it is yielded.
 */
export async function* forEachPath<One extends Result>(
  paths: readonly string[],
  what: FailedResult["what"],
  ask: (path: string) => Promise<One>,
  finish: (result: One) => One | Promise<One> = (result) => result,
): AsyncGenerator<Result> {
  const failures: TreeFailure[] = [];
  for (let start = 0; start < paths.length; start += UNDER_WAY) {
    const group = paths.slice(start, start + UNDER_WAY);
    // The session keeps the order of requests, so `delete /a/b /a` works.
    for (const [index, outcome] of (await Promise.allSettled(group.map(ask))).entries()) {
      let result: One;
      try {
        if (outcome.status === "rejected") throw outcome.reason;
        result = await finish(outcome.value);
      } catch (error) {
        failures.push({ path: group[index] as string, error: refusalOf(error) });
        continue;
      }
      yield result;
    }
  }
  yield* reportEach(what, failures, paths.length);
}

/** Yields a `failed` result for each failure, and throws like {@link forEachPath}. */
export function* reportEach(
  what: FailedResult["what"],
  failures: readonly TreeFailure[],
  asked: number,
): Generator<FailedResult> {
  const last = failures.at(-1);
  if (last === undefined) return;
  const isAlike = failures.every(({ error }) => exitCodeOf(error) === exitCodeOf(last.error));
  const isTotal = failures.length === asked && isAlike;
  for (const failure of isTotal ? failures.slice(0, -1) : failures)
    yield { kind: "failed", what, ...failure };
  if (isTotal) throw last.error;
  const message = `${failures.length} of ${asked} znodes could not be ${PARTICIPLES[what]}`;
  throw new PartialError("partial", message, { path: last.path, cause: last.error });
}

const PARTICIPLES = {
  delete: "deleted",
  setAcl: "changed",
  read: "read",
  write: "written",
} as const;

/**
 * Throws UsageError for a number among several paths: `delete /a /b 3` probably means version 3,
 * and must not delete a znode called 3.
 */
export function refuseVersions(further: readonly FurtherWord[]): void {
  const number =
    further.length > 1
      ? further.find(({ text, paths }) => paths !== undefined && isVersion(text))
      : undefined;
  if (!number) return;
  throw new UsageError(`'${number.text}' could be a version or a path`, {
    hint: `write -v ${number.text} for the version, ./${number.text} for the path`,
  });
}

/** A version in zkCli's old form: `delete path version`. */
export function isVersion(text: string): boolean {
  return /^-?\d+$/.test(text);
}
