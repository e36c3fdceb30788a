/** `NAME = LINE`: runs a line and keeps what a pipe would get of it. */
import { Writable } from "node:stream";
import { OperationError } from "../../errors.ts";
import { ioWith, outputTo } from "../../io/io.ts";
import type { FrontEnd } from "../front-end.ts";

/** A result that was forgotten in a variable must not fill the memory. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The bytes of one result. */
export class KeptBytes {
  readonly #name: string;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length <= MAX_BYTES) this.#chunks.push(chunk);
  }

  /** The text without its final line end. Throws OperationError for a long one, or no UTF-8. */
  text(): string {
    if (this.#length > MAX_BYTES)
      throw new OperationError("too-long", `the result for ${this.#name} is longer than 16 MB`, {
        hint: "a variable keeps a short result; write long ones to a file with | cat > FILE",
      });
    try {
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      return decoder.decode(Buffer.concat(this.#chunks)).replace(/\r?\n$/, "");
    } catch (cause) {
      throw new OperationError("not-text", `the result for ${this.#name} is not UTF-8 text`, {
        hint: "get -b prints the data as base64",
        cause,
      });
    }
  }
}

/** Calls `run` with a front end that writes to `kept`, and returns its exit code. */
export async function runKept(
  frontEnd: FrontEnd,
  kept: KeptBytes,
  run: (frontEnd: FrontEnd) => Promise<number>,
): Promise<number> {
  const { io, signal } = frontEnd;
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      kept.add(chunk);
      done();
    },
  });
  return run(frontEnd.into(ioWith(io, { stdout: outputTo(io, stream) }), signal));
}
