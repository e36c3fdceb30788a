import type { AnyCommand, CommandEntry } from "../../commands/command.ts";
import { longName } from "../../commands/usage.ts";
import {
  type Declaration,
  declarationOf,
  invocationOf,
  splitCommand,
} from "./invocation-values.ts";
import type { Marks } from "./marked-words.ts";
import type { Invocation } from "./parser.ts";

/**
 * Parses lines of one command that consist of arguments and separate flags only (and, behind `--`,
 * of a program to run), as most lines of long scripts. Commander gives the same result, but
 * building its program for each line takes longer than everything else together.
 */
export class PlainLines {
  readonly #declaration: Declaration;
  /** Option keys by spelling: `-s` and `--stat`. */
  readonly #flags: ReadonlyMap<string, string>;
  /** How many arguments stand before the program. */
  readonly #size: number;
  readonly #hasRest: boolean;

  constructor(entry: CommandEntry, command: AnyCommand) {
    const declaration = declarationOf(entry, command);
    this.#declaration = declaration;
    const flags = declaration.options.filter(([, { kind }]) => kind === "flag");
    this.#flags = new Map(
      flags.flatMap(([key, { short }]) =>
        [short, longName(key)].map((name) => [name, key] as const),
      ),
    );
    const own = declaration.args.filter(([, { arity }]) => arity !== "command");
    this.#size = own.length;
    this.#hasRest = own.at(-1)?.[1].arity === "rest";
  }

  /**
   * Returns undefined for other lines and for wrong ones. Throws UsageError for an invalid value.
   */
  parse(words: readonly string[], cwd: string, marks?: Marks): Invocation | undefined {
    const { words: own, behind } = splitCommand(words.slice(1), this.#declaration);
    if (behind?.length === 0) return undefined;
    const placed: unknown[] = [];
    let given: Record<string, true> | undefined;
    for (const word of own) {
      if (!word.startsWith("-")) placed.push(word);
      else {
        const flag = this.#flags.get(word);
        if (flag === undefined) return undefined;
        given ??= {};
        given[flag] = true;
      }
    }
    const most = this.#hasRest ? Number.POSITIVE_INFINITY : this.#size;
    if (placed.length < this.#declaration.required || placed.length > most) return undefined;
    if (this.#hasRest) placed.push(placed.splice(this.#size - 1));
    const where = { cwd };
    return invocationOf(this.#declaration, { words: placed, given, behind, marks, where });
  }
}
