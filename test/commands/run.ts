import { main } from "../../src/main.ts";
import { formatAddress } from "../../src/session/connect-string.ts";
import type { WordAnswer } from "../../src/session/four-letter-word.ts";
import type { SessionOptions } from "../../src/session/options.ts";
import type { EndingSignal } from "../../src/shell/runtime.ts";
import { type MemoryIoOptions, memoryIo } from "./memory-io.ts";
import { StubSession } from "./stub-session.ts";

export interface RunOptions extends MemoryIoOptions {
  /** Data by path: the znodes there are, parents first. */
  readonly given?: Readonly<Record<string, string | Buffer | null>>;
  /** The error that a request for a path meets. */
  readonly failures?: Readonly<Record<string, Error>>;
  readonly session?: StubSession;
  readonly programName?: string;
  /** What a server (`host:port`) answers to a four-letter word. */
  readonly words?: (word: string, server: string) => WordAnswer | string;
  readonly isReadableByOthers?: (path: string) => Promise<boolean>;
  /** Arrives as soon as the program listens. */
  readonly signal?: EndingSignal;
}

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
  readonly bytes: Buffer;
  readonly session: StubSession;
  /** The options of each session that was opened. */
  readonly opened: readonly SessionOptions[];
}

const NOT_ALLOWED: WordAnswer = { kind: "not-allowed" };

/** The whole program, but for the server and the process. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const io = memoryIo(options);
  const session = options.session ?? new StubSession(options.given, options.failures);
  const opened: SessionOptions[] = [];
  const exit = await main({ programName: options.programName ?? "zksh", argv }, io, {
    async openSession(sessionOptions) {
      opened.push(sessionOptions);
      return session.asSession();
    },
    async askWord(server, word) {
      const answer = options.words?.(word, formatAddress(server)) ?? NOT_ALLOWED;
      if (typeof answer !== "string") return answer;
      return { kind: "answered", bytes: Buffer.from(answer), ms: 1 };
    },
    ...(options.isReadableByOthers && { isReadableByOthers: options.isReadableByOthers }),
    onSignal(listener) {
      if (options.signal) queueMicrotask(() => options.signal && listener(options.signal));
      return () => {};
    },
  });
  const { stdout, stderr } = io.written;
  return { stdout: stdout.toString(), stderr, exit, bytes: stdout, session, opened };
}

/** One row of a command's table: what is typed, and everything that comes of it. */
export interface Row extends RunOptions {
  readonly name: string;
  readonly argv: readonly string[];
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exit?: number;
}

/** What a row promises, in the shape of what it got. */
export function expected({
  stdout = "",
  stderr = "",
  exit = 0,
}: Row): Pick<Ran, "stdout" | "stderr" | "exit"> {
  return { stdout, stderr, exit };
}

/** The part of a run that rows promise. */
export async function outcome({
  argv,
  ...options
}: Row): Promise<Pick<Ran, "stdout" | "stderr" | "exit">> {
  const { stdout, stderr, exit } = await run(argv, options);
  return { stdout, stderr, exit };
}
