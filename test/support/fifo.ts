import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";

const PIECE = 64 * 1024;

/** A pipe whose reader reads only when it is told to. */
export class Fifo {
  /** What a program gets as its stdout or stderr. */
  readonly input: number;
  readonly #output: number;
  /** Separate from the program's end, which may block. */
  readonly #filler: number;
  #isOpen = true;

  constructor(path: string) {
    execFileSync("mkfifo", [path]);
    const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
    this.#output = openSync(path, O_RDONLY | O_NONBLOCK);
    this.input = openSync(path, O_WRONLY);
    this.#filler = openSync(path, O_WRONLY | O_NONBLOCK);
  }

  /** Writes until nothing more fits in; the number of bytes. */
  fill(): number {
    let bytes = 0;
    // Smaller pieces last: a pipe takes a short write as a whole or not at all.
    for (const size of [PIECE, 1]) {
      for (let isTaken = true; isTaken; ) {
        const written = tryTo(() => writeSync(this.#filler, Buffer.alloc(size, "\n")));
        isTaken = written !== undefined;
        bytes += written ?? 0;
      }
    }
    return bytes;
  }

  /** What is there now. */
  read(): string {
    const pieces: Buffer[] = [];
    const piece = Buffer.alloc(PIECE);
    for (let length = this.#take(piece); length > 0; length = this.#take(piece)) {
      pieces.push(Buffer.from(piece.subarray(0, length)));
    }
    return Buffer.concat(pieces).toString();
  }

  /** The reader goes away. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const fd of [this.#output, this.#filler, this.input]) closeSync(fd);
  }

  #take(piece: Buffer): number {
    return tryTo(() => readSync(this.#output, piece)) ?? 0;
  }
}

/** Undefined when it would have had to wait. */
function tryTo(act: () => number): number | undefined {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}
