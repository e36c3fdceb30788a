import { InterruptedError } from "../../errors.ts";
import { ExitCode } from "../../exit-codes.ts";

/** Counts the lines of a script for the message at its end. */
export class ScriptTally {
  #done = 0;
  #failed = 0;
  #open = 0;
  #readerIsGone = false;
  #hasMore = false;

  /** Counts a line that has ended, with or without an error. */
  finished({ isFailure }: { readonly isFailure: boolean }): void {
    this.#done += 1;
    if (isFailure) this.#failed += 1;
  }

  readerIsGone(): void {
    this.#readerIsGone = true;
  }

  /** Records that lines are left. */
  hasMore(): void {
    this.#hasMore = true;
  }

  /** True if only the next group of lines can show whether lines are left. */
  get mustLookFurther(): boolean {
    return this.#readerIsGone && !this.#hasMore;
  }

  /**
   * The exit code of a program that SIGPIPE killed, if the reader of the output closed it (`|
   * head`) while lines were left; otherwise undefined.
   */
  get exitCode(): number | undefined {
    return this.#readerIsGone && this.#hasMore ? ExitCode.brokenPipe : undefined;
  }

  /** Counts a write that was interrupted after it was sent: it may have taken effect. */
  leftOpen(error: unknown): void {
    if (error instanceof InterruptedError && error.outcome !== undefined) this.#open += 1;
  }

  /**
   * Returns the error of an interrupted script: it counts the finished lines and the lines that may
   * have taken effect.
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
