/** stdout and stderr of the process, and how long its end waits for those who read them. */
import { fstatSync, statSync } from "node:fs";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import { within } from "../async/within.ts";
import { isStdoutClosed } from "./closed-stdout.ts";
import { type ColorLevel, detectColorLevel, type Output } from "./io.ts";
import { PatientWriter } from "./patient-writer.ts";

/** At exit, for results that no caller waited for: a stuck reader must not delay the exit long. */
const LAST_RESULTS_MS = 100;
/** At exit, for the reader of stderr, where errors are told. */
const LAST_WORDS_MS = 1_000;

/** stdout and stderr, opened at most once each. */
export class StandardOutputs {
  readonly #opened: NodeJS.WriteStream[] = [];
  readonly #writers = new Map<string, PatientWriter>();

  /**
   * Results: in order and complete, as fast as their reader reads. Node itself writes to pipes
   * asynchronously.
   */
  results(): Output {
    if (!isTerminalAt(1)) return this.#output(isStdoutClosed() ? closedStream() : process.stdout);
    const writer = this.#writerOf(1);
    const write = (bytes: Uint8Array, done: Done) => writer.result(bytes, done);
    return this.#output(writingBy(process.stdout, write));
  }

  /** Messages beside the results: see {@link PatientWriter.say}. A file is written to at once. */
  messages(): Output {
    const isTerminal = isTerminalAt(2);
    if (!isTerminal && !isPipeAt(2)) return this.#output(process.stderr);
    const writer = this.#writerOf(2);
    const say = (bytes: Uint8Array, done: () => void) => writer.say(bytes, done);
    const stream = isTerminal
      ? writingBy(process.stderr, say)
      : new Writable({ write: (chunk, _, done) => say(chunk, done) });
    return Object.defineProperty(this.#output(stream as NodeJS.WriteStream), "isStuck", {
      get: () => writer.isStuck,
    });
  }

  /**
   * Resolves when everything that was written has left the process, or its readers have had their
   * time.
   */
  async taken(): Promise<void> {
    const unwritten = this.#opened.filter(({ writableLength }) => writableLength > 0);
    const taken = unwritten.map(
      (stream) => new Promise<void>((done) => stream.write("", () => done())),
    );
    const stuck = [...this.#writers.values()].filter(({ isIdle }) => !isIdle);
    await Promise.all([
      within(LAST_RESULTS_MS, Promise.all(taken)),
      within(LAST_WORDS_MS, Promise.all(stuck.map((writer) => writer.idle()))),
    ]);
  }

  /**
   * One for both streams where they are one terminal, so that it shows what they write in its
   * order.
   */
  #writerOf(fd: number): PatientWriter {
    const { dev, ino } = fstatSync(fd);
    const key = `${dev} ${ino}`;
    const writer = this.#writers.get(key) ?? new PatientWriter(fd);
    this.#writers.set(key, writer);
    return writer;
  }

  #output(stream: NodeJS.WriteStream): Output {
    this.#opened.push(stream);
    // A failed write is reported to its caller; without a listener the same failure would also end
    // the process.
    stream.on("error", () => {});
    const isTTY = stream.isTTY === true;
    return {
      stream,
      isTTY,
      get columns(): number {
        return stream.columns || 80;
      },
      get rows(): number {
        return stream.rows || 24;
      },
      get colorLevel(): ColorLevel {
        return detectColorLevel(process.env, isTTY);
      },
    };
  }
}

/** A stream that takes nothing, as a closed descriptor does: what would be lost is an error. */
function closedStream(): NodeJS.WriteStream {
  const write = (_chunk: unknown, _encoding: unknown, done: (error: Error) => void) =>
    done(Object.assign(new Error("stdout is closed"), { code: "EBADF" }));
  return new Writable({ write, autoDestroy: false }) as NodeJS.WriteStream;
}

interface Chunk {
  readonly chunk: Uint8Array | string;
  readonly encoding: BufferEncoding;
}

type Done = (error?: Error | null) => void;

function bytesOf(chunk: Chunk["chunk"], encoding: BufferEncoding): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk;
}

/** A terminal's stream, with its columns and cursor, that hands its bytes to us. */
function writingBy(
  stream: NodeJS.WriteStream,
  write: (bytes: Uint8Array, done: Done) => void,
): NodeJS.WriteStream {
  return Object.assign(stream, {
    _write(chunk: Chunk["chunk"], encoding: BufferEncoding, done: Done) {
      write(bytesOf(chunk, encoding), done);
    },
    _writev(chunks: readonly Chunk[], done: Done) {
      write(Buffer.concat(chunks.map(({ chunk, encoding }) => bytesOf(chunk, encoding))), done);
    },
  });
}

function isTerminalAt(fd: number): boolean {
  try {
    const device = fstatSync(fd);
    return device.isCharacterDevice() && device.rdev !== statSync("/dev/null").rdev && isatty(fd);
  } catch {
    return false;
  }
}

function isPipeAt(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}
