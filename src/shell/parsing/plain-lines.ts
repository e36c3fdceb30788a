import type { AnyCommand, CommandEntry } from "../../commands/command.ts";
import { longName } from "../../commands/usage.ts";
import {
  type Declaration,
  declarationOf,
  invocationOf,
  takesProgram,
} from "./invocation-values.ts";
import type { Marks } from "./marked-words.ts";
import type { Invocation } from "./parser.ts";

/**
 * Parses lines of one command that consist of arguments and separate flags only, as most lines of
 * long scripts. Commander gives the same result, but building its program for each line takes
 * longer than everything else together.
 */
export class PlainLines {
  readonly #declaration: Declaration;
  /** Option keys by spelling: `-s` and `--stat`. */
  readonly #flags: ReadonlyMap<string, string>;
  readonly #most: number;
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
    this.#hasRest = declaration.args.at(-1)?.[1].arity === "rest";
    this.#most = takesProgram(declaration)
      ? -1
      : this.#hasRest
        ? Number.POSITIVE_INFINITY
        : declaration.args.length;
  }

  /**
   * Returns undefined for other lines and for wrong ones. Throws UsageError for an invalid value.
   */
  parse(words: readonly string[], cwd: string, marks?: Marks): Invocation | undefined {
    const placed: unknown[] = [];
    let given: Record<string, true> | undefined;
    for (const word of words.slice(1)) {
      if (!word.startsWith("-")) placed.push(word);
      else {
        const flag = this.#flags.get(word);
        if (flag === undefined) return undefined;
        given ??= {};
        given[flag] = true;
      }
    }
    if (placed.length < this.#declaration.required || placed.length > this.#most) return undefined;
    if (this.#hasRest) placed.push(placed.splice(this.#declaration.args.length - 1));
    return invocationOf(this.#declaration, { words: placed, given, marks, where: { cwd } });
  }
}
