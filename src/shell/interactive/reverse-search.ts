/** Ctrl-R: searches the history backwards for the typed text. Independent of the terminal. */

export interface SearchKey {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  /** The character, when the key stands for one. */
  readonly text?: string | undefined;
}

/**
 * `more`: still searching. `accept`: the match is to be edited, and the key still to be obeyed.
 * `run`: it is to be run.
 */
export type SearchStep = "more" | "accept" | "run" | "cancel";

export class ReverseSearch {
  readonly #entries: readonly string[];
  readonly #original: string;
  #query = "";
  #index = -1;

  /**
   * `entries`: newest first. `original`: the line before the search, which comes back when it is
   * cancelled.
   */
  constructor(entries: readonly string[], original: string) {
    this.#entries = entries;
    this.#original = original;
  }

  get query(): string {
    return this.#query;
  }

  /** True if no entry contains the query. */
  get hasFailed(): boolean {
    return this.#query !== "" && this.#index < 0;
  }

  /** The line to show: the match, or the line as it was. */
  get line(): string {
    return this.#entries[this.#index] ?? this.#original;
  }

  get original(): string {
    return this.#original;
  }

  /** Where the query stands in the line. */
  get cursor(): number {
    const at = this.#index < 0 ? -1 : this.line.toLowerCase().indexOf(this.#query.toLowerCase());
    return at < 0 ? this.line.length : at;
  }

  press({ name, ctrl = false, meta = false, text }: SearchKey): SearchStep {
    if (ctrl && name === "r") return this.#look(this.#index + 1, 1);
    if (ctrl && name === "s") return this.#look(this.#index - 1, -1);
    if (name === "escape" || (ctrl && (name === "g" || name === "c"))) return "cancel";
    if (name === "return" || name === "enter") return "run";
    if (name === "backspace" || (ctrl && name === "h")) {
      this.#query = [...this.#query].slice(0, -1).join("");
      return this.#restart();
    }
    if (ctrl || meta || text === undefined || text === "" || /\p{Cc}/u.test(text)) return "accept";
    this.#query += text;
    // The present match may also match the longer query.
    return this.#look(Math.max(this.#index, 0), 1);
  }

  #restart(): SearchStep {
    this.#index = -1;
    return this.#query === "" ? "more" : this.#look(0, 1);
  }

  #look(from: number, step: 1 | -1): SearchStep {
    if (this.#query === "") return "more";
    const wanted = this.#query.toLowerCase();
    for (let i = from; i >= 0 && i < this.#entries.length; i += step) {
      if (!this.#entries[i]?.toLowerCase().includes(wanted)) continue;
      this.#index = i;
      return "more";
    }
    // At the end of the list the last match stays; a query that matches nothing at all is said so.
    if (!this.#entries[this.#index]?.toLowerCase().includes(wanted)) this.#index = -1;
    return "more";
  }
}
