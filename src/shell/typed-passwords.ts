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
  of(username: string, { isNoInput }: { readonly isNoInput: boolean }): Promise<string> {
    const known = this.#typed.get(username) ?? this.#ask(username, isNoInput);
    this.#typed.set(username, known);
    // After Ctrl-C the next session asks again.
    known.catch(() => this.#typed.delete(username));
    return known;
  }

  async #ask(username: string, isNoInput: boolean): Promise<string> {
    const prompter = isNoInput ? undefined : prompterFor(this.#io);
    if (prompter !== undefined)
      return prompter.secret(`SASL password for ${username}`, this.#signal);
    const why = isNoInput ? "--no-input forbids asking for" : "no terminal to ask for";
    throw new RefusedError("needs-input", `${why} ${username}'s password; use --sasl-file FILE`);
  }
}
