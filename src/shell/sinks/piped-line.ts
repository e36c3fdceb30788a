/** `LINE | COMMAND`: runs a line whose results a command of the system shell reads. */
import { Writable } from "node:stream";
import { InterruptedError, UsageError } from "../../errors.ts";
import { codeOfSignal } from "../../exit-codes.ts";
import { brokenPipe, type Io, ioWith, isBrokenPipe, outputTo } from "../../io/io.ts";
import type { ChildEnd, ShellChild } from "../../processes/child-requests.ts";
import type { FrontEnd } from "../front-end.ts";

export interface PipedLineOptions {
  readonly command: string;
  /** The front end of the line; it writes to our stdout. */
  readonly frontEnd: FrontEnd;
  /** How a zksh in the command connects: as the line's session. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes the command's output. Left out: our stdout. */
  readonly onOutput?: (bytes: Uint8Array) => void;
  /**
   * Ctrl-C ends the line and the command, and zksh goes on: at the prompt. Left out: it ends zksh.
   */
  readonly survivesInterrupt?: boolean;
  /** The line changes nothing: without a reader of its results it need not go on. */
  readonly onlyReads?: boolean;
}

/** A line that would end by itself, perhaps with an error to tell, gets this time to do so. */
const READER_GONE_MS = 500;

/**
 * Calls `run` with a front end that writes into the command, and waits until both have ended.
 * Returns the exit code of the line if that is not 0, otherwise that of the command. A command that
 * ends before the line (`| head`) ends the line without an error: at its next write, and a line that
 * only reads soon. Throws what the line threw.
 */
export async function runPiped(
  {
    command,
    frontEnd,
    env,
    onOutput,
    survivesInterrupt = false,
    onlyReads = false,
  }: PipedLineOptions,
  run: (frontEnd: FrontEnd) => Promise<number>,
): Promise<number> {
  if (command === "") throw new UsageError("there is no command after |", { hint: "ls / | wc -l" });
  const { io, signal } = frontEnd;
  signal.throwIfAborted();
  const interrupt = new AbortController();
  const child = await io.processes.startShell({
    command,
    env,
    ...(onOutput && { onOutput }),
    ...(survivesInterrupt && {
      // A command that goes on after Ctrl-C, such as a pager, ends at the second one.
      onInterrupt() {
        if (interrupt.signal.aborted) child.stop();
        interrupt.abort(new InterruptedError());
      },
    }),
  });
  const unread = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  // A live view without news would wait for its next write.
  const onEnd = () => unread.abort(new InterruptedError());
  if (onlyReads)
    void child.ended.then(() => {
      timer = setTimeout(onEnd, READER_GONE_MS);
    });
  const stop = () => child.stop();
  signal.addEventListener("abort", stop, { once: true });
  // Ctrl-C may have come while it was started.
  if (signal.aborted) stop();
  try {
    const either = AbortSignal.any([signal, interrupt.signal]);
    const ending = AbortSignal.any([either, unread.signal]);
    const line = run(frontEnd.into(pipeIo(io, child), ending));
    const code = await line.catch((error: unknown) => {
      if (isBrokenPipe(error) || (unread.signal.aborted && !either.aborted)) return 0;
      throw error;
    });
    child.stdin.end();
    const end = await child.ended;
    either.throwIfAborted();
    return code === 0 ? codeOf(end) : code;
  } finally {
    // Its error is told when the command has written what it has to say.
    child.stdin.end();
    await child.ended;
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** The same world with another stdout, also for the programs that the line runs. */
function pipeIo(io: Io, { stdin }: ShellChild): Io {
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      stdin.write(chunk, (error) => done(error && brokenPipe(error)));
    },
  });
  stream.on("error", () => {});
  const { run, prepareGuard } = io.processes;
  const processes: Io["processes"] = {
    ...io.processes,
    run: (request) => run({ ...request, stdout: stdin }),
    prepareGuard: async (options) => {
      const preparation = await prepareGuard(options);
      return {
        start: (request) => preparation.start({ ...request, stdout: stdin }),
        dispose: () => preparation.dispose(),
      };
    },
  };
  return ioWith(io, { stdout: outputTo(io, stream), processes });
}

function codeOf(end: ChildEnd): number {
  return "code" in end ? end.code : codeOfSignal(end.killedBy as NodeJS.Signals);
}
