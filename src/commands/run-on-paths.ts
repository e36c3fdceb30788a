/** Runs a program for paths that were found: `find … -- CMD {}`. */
import type { Context } from "./command.ts";

/** The system refuses longer command lines; ours stays well below its 128 KB for one word too. */
const MAX_WORDS_LENGTH = 100_000;
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
      if (!(await succeeds(context, words))) failed += 1;
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
  let failed = 0;
  let waiting: string[] = [];
  let length = 0;
  const run = async () => {
    if (waiting.length === 0) return;
    const given = waiting;
    waiting = [];
    length = 0;
    const [file, ...rest] = argv;
    const words = rest.flatMap((word) => (word === PLACE ? given : [word]));
    if (!(await succeeds(context, [file, ...words]))) failed += 1;
  };
  for await (const paths of pieces) {
    for (const path of paths) {
      if (length + path.length > MAX_WORDS_LENGTH) await run();
      waiting.push(path);
      length += path.length + 1;
    }
  }
  await run();
  return failed;
}

async function succeeds(context: Context, argv: Argv): Promise<boolean> {
  const end = await context.processes.run({
    argv,
    env: context.processes.childEnvironment(context.session()),
    input: Buffer.alloc(0),
    signal: context.signal,
  });
  return "code" in end && end.code === 0;
}
