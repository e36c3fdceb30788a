import type { Io, Output } from "../../io/io.ts";
import type { Rendered } from "../../render/renderer.ts";
import type { ResultOutput } from "../execute.ts";

/** Beyond this size larger writes are not faster. */
const ENOUGH = 64 * 1024;

interface Piece {
  readonly target: Output;
  readonly bytes: Uint8Array;
}

/** Joins the output of many lines into few writes, and keeps the order of stdout and stderr. */
export class GatheredOutput implements ResultOutput {
  readonly #io: Io;
  #pieces: Piece[] = [];
  #length = 0;
  #written: Promise<void> = Promise.resolve();
  /** The number of bytes passed to write(). */
  total = 0;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Waits for the reader if enough is gathered. Throws write errors. */
  write({ out, err }: Pick<Rendered, "out" | "err">): Promise<void> | undefined {
    if (out !== undefined && out.length > 0) this.#gather(this.#io.stdout, out);
    if (err !== undefined && err.length > 0) this.#gather(this.#io.stderr, err);
    return this.#length < ENOUGH ? undefined : this.flush();
  }

  flush(): Promise<void> {
    // Starts after the write before it. An error of that write is thrown to its own caller only.
    const before = this.#written.catch(() => {});
    const pieces = this.#pieces;
    if (pieces.length === 0) return before;
    this.#pieces = [];
    this.#length = 0;
    this.#written = before.then(() => this.#writeAll(pieces));
    return this.#written;
  }

  #gather(target: Output, text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    this.#pieces.push({ target, bytes });
    this.#length += bytes.length;
    this.total += bytes.length;
  }

  async #writeAll(pieces: readonly Piece[]): Promise<void> {
    for (let start = 0; start < pieces.length; ) {
      const target = pieces[start]?.target ?? this.#io.stdout;
      let end = start;
      while (pieces[end]?.target === target) end++;
      const written = this.#io.writer.write(
        target,
        Buffer.concat(pieces.slice(start, end).map(({ bytes }) => bytes)),
      );
      // Write errors on stderr are ignored: messages are optional.
      await (target === this.#io.stdout ? written : written.catch(() => {}));
      start = end;
    }
  }
}
