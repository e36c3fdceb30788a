import { Writable } from "node:stream";
import type { Io, Output } from "../../io/io.ts";

/** The Io of one statement: its output can be detached, and the shell is told before it writes. */
export class StatementIo {
  readonly io: Io;
  #isDetached = false;

  constructor(io: Io, beforeWrite: () => void) {
    const outputs: { stdout?: Output; stderr?: Output } = {};
    // Opened at first use, like the streams of the process.
    const output = (name: "stdout" | "stderr"): Output => {
      outputs[name] ??= this.#wrap(io[name], beforeWrite);
      return outputs[name];
    };
    this.io = {
      env: io.env,
      writer: io.writer,
      get self() {
        return io.self;
      },
      get stdin() {
        return io.stdin;
      },
      get stdout() {
        return output("stdout");
      },
      get stderr() {
        return output("stderr");
      },
      files: io.files,
      processes: {
        ...io.processes,
        run(request) {
          beforeWrite();
          return io.processes.run(request);
        },
        prepareGuard: (options) => io.processes.prepareGuard({ ...options, onStart: beforeWrite }),
      },
    };
  }

  /** Discards all later output. */
  detach(): void {
    this.#isDetached = true;
  }

  #wrap(output: Output, beforeWrite: () => void): Output {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (this.#isDetached) return done();
        beforeWrite();
        output.stream.write(chunk, done);
      },
    });
    // As with the real stream, the error goes to the writer only.
    stream.on("error", () => {});
    const { isTTY, colorLevel } = output;
    return {
      stream,
      isTTY,
      colorLevel,
      get columns() {
        return output.columns;
      },
      get rows() {
        return output.rows ?? 24;
      },
    };
  }
}
