import { ZkshError } from "../../errors.ts";
import { ExitCode } from "../../exit-codes.ts";

/** Whether a script runs on, and the exit code that it ends with. */
export class ScriptEnd {
  readonly #keepsGoing: boolean;
  #isOver = false;
  #hasFailed = false;
  #exitCode: number = ExitCode.ok;

  /** `keepsGoing`: the script goes on after a failure. */
  constructor({ keepsGoing }: { readonly keepsGoing: boolean }) {
    this.#keepsGoing = keepsGoing;
  }

  /** True if no further line is run. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get exitCode(): number {
    if (this.#exitCode !== ExitCode.ok) return this.#exitCode;
    return this.#hasFailed ? ExitCode.partial : ExitCode.ok;
  }

  /** No further line is run; this is no failure. */
  stop(): void {
    this.#isOver = true;
  }

  /** A line has ended with this code, or with this error. */
  failed(code: number, error?: unknown): void {
    this.#hasFailed = true;
    if (this.#keepsGoing && !isFinal(error)) return;
    this.#exitCode = code;
    this.#isOver = true;
  }
}

/** True if no later line can succeed: the program was interrupted, or there is no server. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof ZkshError && (error.reason === "interrupted" || error.reason === "unreachable")
  );
}
