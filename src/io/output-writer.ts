import { OperationError } from "../errors.ts";
import { monotonicMs } from "../processes/monotonic-clock.ts";
import { isBrokenPipe, type Output } from "./io.ts";

/** Writes to the outputs of one Io, and knows which writes their readers have not taken yet. */
export class OutputWriter {
  /** By the time of monotonicMs when they were begun: `performance` takes 0.7 ms to load. */
  readonly #unfinished = new Map<(reason: unknown) => void, number>();

  /**
   * Resolves when the stream has taken the chunk, so that a slow reader slows the writer down;
   * rejects when it is gone.
   */
  write(output: Output, chunk: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#unfinished.set(reject, monotonicMs());
      output.stream.write(chunk, (error) => {
        this.#unfinished.delete(reject);
        if (error) reject(isBrokenPipe(error) ? error : writeFailed(error));
        else resolve();
      });
    });
  }

  /**
   * Fails every write that its reader has not taken for `ms` with `reason`, so that no caller waits
   * longer.
   */
  abandon(ms: number, reason: unknown): void {
    for (const [reject, begun] of this.#unfinished) {
      if (monotonicMs() - begun < ms) continue;
      this.#unfinished.delete(reject);
      reject(reason);
    }
  }
}

/** A full disk is not our bug, but the results are not where they should be. */
function writeFailed(cause: Error): OperationError {
  return new OperationError("output-failed", `cannot write the output: ${cause.message}`, {
    cause,
  });
}
