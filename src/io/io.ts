/**
 * The world outside the program, as narrow as it can be: three streams, the environment, files,
 * programs.
 */

import type { Readable, Writable } from "node:stream";
import type { Environment, Processes } from "../processes/child-requests.ts";
import type { Files } from "./files.ts";
import type { OutputWriter } from "./output-writer.ts";

export type ColorLevel = 0 | 1 | 2 | 3;

export interface Input {
  readonly stream: Readable;
  readonly isTTY: boolean;
  /**
   * Why nothing more can come: the input has `ended`, or is a `file`, which ends by itself.
   * Undefined while bytes may still come. Discards the bytes that are there: only for callers that
   * wait for the end alone.
   */
  readonly isOver?: () => "ended" | "file" | undefined;
}

export interface Output {
  readonly stream: Writable;
  readonly isTTY: boolean;
  /** Width of the terminal; 80 where there is none. */
  readonly columns: number;
  /** Height of the terminal, where there is one. */
  readonly rows?: number;
  /** The reader has not read for a while: output that is only worth showing now can be skipped. */
  readonly isStuck?: boolean;
  /** The colours that the stream can show when no setting forces them on or off. */
  readonly colorLevel: ColorLevel;
}

/** The user, host and process of this program, as holder records name them: `ann@web3`. */
export interface Self {
  readonly who: string;
  readonly host: string;
  readonly pid: number;
}

export interface Io {
  readonly self: Self;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Writes to stdout and stderr. */
  readonly writer: OutputWriter;
  readonly env: Environment;
  readonly files: Files;
  readonly processes: Processes;
}

/** An output that is not a terminal. */
export function outputTo({ env }: Pick<Io, "env">, stream: Writable): Output {
  return { stream, isTTY: false, columns: 80, colorLevel: detectColorLevel(env, false) };
}

/** The same world but for these parts; the others are opened at first use, as those of `io`. */
export function ioWith(io: Io, parts: Partial<Pick<Io, "stdout" | "stderr" | "processes">>): Io {
  const values = Object.entries(parts).map(([name, value]) => [name, { value }]);
  return Object.create(io, Object.fromEntries(values));
}

/**
 * Everything the stream has until it ends. Aborting destroys the stream and rejects with the
 * signal's reason.
 */
export async function readAll(input: Input, signal: AbortSignal): Promise<Buffer> {
  signal.throwIfAborted();
  const stop = () => input.stream.destroy(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of input.stream) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Resolves when the stream has ended, and discards all bytes before that. Aborting stops listening
 * to the stream.
 */
export function inputEnd({ stream }: Input, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || stream.readableEnded || stream.destroyed) return resolve();
    const done = () => {
      signal.removeEventListener("abort", done);
      for (const event of ["end", "close", "error"]) stream.off(event, done);
      stream.pause();
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    for (const event of ["end", "close", "error"]) stream.on(event, done);
    stream.resume();
  });
}

/** The reader of our output has closed it (`zksh ls -R / | head`). */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/**
 * The colours a stream can show: NO_COLOR wins over FORCE_COLOR, which wins over what the terminal
 * says.
 */
export function detectColorLevel(env: Environment, isTTY: boolean): ColorLevel {
  if (env.NO_COLOR) return 0;
  if (env.FORCE_COLOR !== undefined) return forcedLevel(env.FORCE_COLOR);
  if (!isTTY || env.TERM === "dumb") return 0;
  if (/^(truecolor|24bit)$/.test(env.COLORTERM ?? "")) return 3;
  return /256/.test(env.TERM ?? "") ? 2 : 1;
}

function forcedLevel(text: string): ColorLevel {
  if (text === "false" || text === "0") return 0;
  return text === "2" ? 2 : text === "3" ? 3 : 1;
}

/** A reader that ends with bytes unread resets the connection, as the pipes of Node are sockets. */
export function brokenPipe(error: Error): Error {
  const code = "code" in error ? error.code : undefined;
  const isGone = code === "ECONNRESET" || code === "ERR_STREAM_DESTROYED" || code === "EPIPE";
  return isGone
    ? Object.assign(new Error("write EPIPE", { cause: error }), { code: "EPIPE" })
    : error;
}
