/**
 * Runs a program for paths that were found: `find … -- CMD {}`. A program that ends by SIGPIPE ends
 * the search too: the reader of its output has gone, and would not see the rest.
 */
import { UsageError } from "../errors.ts";
import type { Context } from "./command.ts";

/** In bytes. The system refuses longer command lines: from 128 KB for a word, 2 MB for all. */
const MAX_WORDS_LENGTH = 100_000;
/** A word's end and its place in the list of words. */
const BYTES_PER_WORD = 9;
const PLACE = "{}";

type Argv = readonly [string, ...string[]];

/** Once for each path, one after the other. Returns how many runs failed. */
export async function runPerPath(
  context: Context,
  argv: Argv,
  pieces: AsyncIterable<readonly string[]>,
): Promise<number> {
  let failed = 0;
  for await (const paths of pieces) {
    for (const path of paths) {
      const words = argv.map((word) => word.replaceAll(PLACE, () => path)) as [string, ...string[]];
      const end = await run(context, words);
      if (end === "no-reader") return failed;
      if (end === "failed") failed += 1;
    }
  }
  return failed;
}

/** As few times as the length of a command line allows. Returns how many runs failed. */
export async function runOnce(
  context: Context,
  argv: Argv,
  pieces: AsyncIterable<readonly string[]>,
): Promise<number> {
  const [file, ...rest] = argv;
  if (!rest.includes(PLACE)) {
    throw new UsageError("+ needs {} as a word of its own, where the paths go", {
      hint: "for example find / --empty -- ls -l {} +",
    });
  }
  let failed = 0;
  let waiting: string[] = [];
  let length = 0;
  const runWaiting = async () => {
    const given = waiting;
    waiting = [];
    length = 0;
    const words = rest.flatMap((word) => (word === PLACE ? given : [word]));
    const end = await run(context, [file, ...words]);
    if (end === "failed") failed += 1;
    return end;
  };
  for await (const paths of pieces) {
    for (const path of paths) {
      const bytes = Buffer.byteLength(path) + BYTES_PER_WORD;
      const isFull = waiting.length > 0 && length + bytes > MAX_WORDS_LENGTH;
      if (isFull && (await runWaiting()) === "no-reader") return failed;
      waiting.push(path);
      length += bytes;
    }
  }
  if (waiting.length > 0) await runWaiting();
  return failed;
}

async function run(context: Context, argv: Argv): Promise<"done" | "failed" | "no-reader"> {
  const end = await context.processes.run({
    argv,
    env: context.processes.childEnvironment(context.session()),
    input: Buffer.alloc(0),
    signal: context.signal,
  });
  if ("code" in end) return end.code === 0 ? "done" : "failed";
  return end.killedBy === "SIGPIPE" ? "no-reader" : "failed";
}
