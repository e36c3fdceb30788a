import { InterruptedError } from "../../errors.ts";
import { ExitCode } from "../../exit-codes.ts";

/** How far a script has come, for its last words. */
export class ScriptTally {
  #done = 0;
  #failed = 0;
  #open = 0;
  #readerIsGone = false;
  #hasMore = false;

  /** A line has been run to its end, well or badly. */
  finished({ isFailure }: { readonly isFailure: boolean }): void {
    this.#done += 1;
    if (isFailure) this.#failed += 1;
  }

  readerIsGone(): void {
    this.#readerIsGone = true;
  }

  /** There are lines that have not been run to their end. */
  hasMore(): void {
    this.#hasMore = true;
  }

  /** The last lines may be missing, and nothing says so but the next group of lines. */
  get mustLookFurther(): boolean {
    return this.#readerIsGone && !this.#hasMore;
  }

  /**
   * As a shell tells of a program that SIGPIPE has ended, where the reader of the output has gone
   * (`| head`) and lines were left; undefined where all was done.
   */
  get exitCode(): number | undefined {
    return this.#readerIsGone && this.#hasMore ? ExitCode.brokenPipe : undefined;
  }

  /**
   * A write has ended in `error`: where it was interrupted after it was sent, it may have taken
   * effect.
   */
  leftOpen(error: unknown): void {
    if (error instanceof InterruptedError && error.outcome !== undefined) this.#open += 1;
  }

  /**
   * An interruption with what was done before it, and how many of the lines under way may have
   * taken effect.
   */
  interrupted(
    cause: InterruptedError,
    underWay: readonly { readonly isRead: boolean }[],
  ): InterruptedError {
    const failed = this.#failed > 0 ? ` (${this.#failed} failed)` : "";
    const unknown = this.#open + underWay.filter(({ isRead }) => !isRead).length;
    const open = unknown > 0 ? `, ${lines(unknown)} may have taken effect` : "";
    const message = `interrupted: ${lines(this.#done)} done${failed}${open}; the rest was not run`;
    return new InterruptedError(message, { cause });
  }
}

function lines(count: number): string {
  return count === 1 ? "1 line" : `${count.toLocaleString("en-US")} lines`;
}
