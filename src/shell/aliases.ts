/** Words that stand for the beginnings of lines: `"ll": "ls -s"` in the settings file. */
import { type CommandEntry, findCommand } from "../commands/command.ts";
import { UsageError } from "../errors.ts";
import { lex } from "./parsing/lexer.ts";
import { commandIndex } from "./parsing/split-globals.ts";

/** Its lines have passwords: those of an alias would get into the history. */
const WITHOUT_ALIAS: readonly string[] = ["addauth"];

export class Aliases {
  readonly #lines: ReadonlyMap<string, string>;
  readonly #commands: readonly CommandEntry[];

  constructor(commands: readonly CommandEntry[], lines: ReadonlyMap<string, string>) {
    this.#commands = commands;
    this.#lines = lines;
  }

  /** Those that stand for a line: a command's own name is never an alias. */
  get lines(): ReadonlyMap<string, string> {
    return new Map([...this.#lines].filter(([name]) => !this.#isCommand(name)));
  }

  /** Names of commands, which stay commands. */
  get shadowed(): readonly string[] {
    return [...this.#lines.keys()].filter((name) => this.#isCommand(name));
  }

  /** The words that `word` stands for; an alias in them is not replaced. Throws UsageError. */
  wordsOf(word: string): readonly string[] | undefined {
    const line = this.#isCommand(word) ? undefined : this.#lines.get(word);
    return line === undefined ? undefined : this.#split(word, line);
  }

  /** A line with the alias replaced at its command word, if there is one. Throws UsageError. */
  expand(words: readonly string[]): readonly string[] {
    const at = commandIndex(words);
    const found = at < 0 ? undefined : this.wordsOf(words[at] ?? "");
    return found ? [...words.slice(0, at), ...found, ...words.slice(at + 1)] : words;
  }

  #split(name: string, line: string): readonly string[] {
    const { statements, unclosed } = lex(line, { hasPipes: true });
    const [statement, ...others] = statements;
    if (!statement || others.length > 0 || statement.pipe !== undefined || unclosed)
      throw new UsageError(`aliases.${name} in the settings file is not one line without | and ;`);
    const words = statement.words.map(({ text }) => text);
    const command = words[commandIndex(words)] ?? "";
    if (WITHOUT_ALIAS.includes(command))
      throw new UsageError(
        `aliases.${name} in the settings file: ${command} cannot have an alias`,
        {
          hint: "its passwords would be kept in the history",
        },
      );
    return words;
  }

  #isCommand(word: string): boolean {
    return findCommand(this.#commands, word) !== undefined;
  }
}
