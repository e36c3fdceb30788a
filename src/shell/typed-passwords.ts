import type { WantedPassword } from "../config/tls-options.ts";
import { RefusedError } from "../errors.ts";
import type { Io } from "../io/io.ts";
import { prompterFor } from "../io/prompter.ts";

/** The passwords that users were asked for on the terminal: each once in the life of the program. */
export class TypedPasswords {
  readonly #io: Io;
  readonly #signal: AbortSignal;
  readonly #typed = new Map<string, Promise<string>>();

  constructor(io: Io, signal: AbortSignal) {
    this.#io = io;
    this.#signal = signal;
  }

  /** Throws RefusedError where no person can be asked. */
  of(wanted: WantedPassword, { isNoInput }: { readonly isNoInput: boolean }): Promise<string> {
    const { what } = wanted;
    const known = this.#typed.get(what) ?? this.#ask(wanted, isNoInput);
    this.#typed.set(what, known);
    // After Ctrl-C the next session asks again.
    known.catch(() => this.#typed.delete(what));
    return known;
  }

  async #ask({ what, question, instead }: WantedPassword, isNoInput: boolean): Promise<string> {
    const prompter = isNoInput ? undefined : prompterFor(this.#io);
    if (prompter !== undefined) return prompter.secret(question, this.#signal);
    const why = isNoInput ? "--no-input forbids asking for" : "no terminal to ask for";
    throw new RefusedError("needs-input", `${why} ${what}; use ${instead}`);
  }
}
