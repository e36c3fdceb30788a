import type { FrontEnd } from "./front-end.ts";
import type { Statement } from "./parsing/lexer.ts";
import { type ReadLine, readLine } from "./parsing/line-words.ts";
import { type LineWords, textOf } from "./parsing/marked-words.ts";
import type { ShellState } from "./shell-state.ts";

/** Reads statements with the variables of the shell. Lines of zkCli have none. */
export class LineReader {
  readonly #state: ShellState;
  readonly #isZkcli: boolean;

  constructor(state: ShellState, { dialect }: Pick<FrontEnd, "dialect">) {
    this.#state = state;
    this.#isZkcli = dialect === "zkcli";
  }

  /** Throws UsageError for a variable without a value, or an assignment without a line. */
  read(statement: Statement): ReadLine {
    if (this.#isZkcli) return { words: statement.words.map(({ text }) => text) };
    return readLine(statement, this.#state.variables);
  }

  /** The line begins: `$_` is its last word from now on. */
  begun({ words, marks }: LineWords): void {
    this.#state.variables.lastWord = textOf(words.at(-1) ?? "", marks);
  }
}
