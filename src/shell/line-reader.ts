import type { Aliases } from "./aliases.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Statement } from "./parsing/lexer.ts";
import { type ReadLine, readLine } from "./parsing/line-words.ts";
import { type LineWords, textOf } from "./parsing/marked-words.ts";
import type { ShellState } from "./shell-state.ts";

/** Reads statements with the variables of the shell. Lines of zkCli have none. */
export class LineReader {
  readonly #state: ShellState;
  readonly #isZkcli: boolean;
  readonly #aliases: Aliases | undefined;

  constructor(state: ShellState, { dialect, runtime }: Pick<FrontEnd, "dialect" | "runtime">) {
    this.#state = state;
    this.#aliases = runtime.aliases;
    this.#isZkcli = dialect === "zkcli";
  }

  /** Throws UsageError for a variable without a value, or an assignment without a line. */
  read(statement: Statement): ReadLine {
    if (this.#isZkcli) return { words: statement.words.map(({ text }) => text) };
    const line = readLine(statement, this.#state.variables);
    return this.#aliases ? { ...line, words: this.#aliases.expand(line.words) } : line;
  }

  /** The line begins: `$_` is its last word from now on. */
  begun({ words, marks }: LineWords): void {
    this.#state.variables.lastWord = textOf(words.at(-1) ?? "", marks);
  }
}
