/**
 * Parses words into an Invocation by the rules of Apache Commons CLI, which zkCli uses: options may
 * come anywhere, flags bundle, `-v5` and `-v=5` are `-v 5`, extra words are ignored, and errors
 * have the names of Java classes. The long options of zksh work as well.
 */
import { type AnyCommand, type CommandEntry, findCommand } from "../../commands/command.ts";
import { longName, usage } from "../../commands/usage.ts";
import { UsageError } from "../../errors.ts";
import {
  type Declaration,
  declarationOf,
  invocationOf,
  splitCommand,
} from "./invocation-values.ts";
import type { Marks } from "./marked-words.ts";
import type { Invocation, ParseOptions } from "./parser.ts";

/** How many words a command must have, where zkCli differs from the declaration. */
const AT_LEAST: Readonly<Record<string, number>> = {
  ls: 1,
  delquota: 1,
  setquota: 1,
  listquota: 1,
  addWatch: 1,
};

/** The commands that refuse extra words. */
const AT_MOST: Readonly<Record<string, number>> = { addWatch: 1, version: 0 };

/** Commands whose options zkCli does not parse. */
const WITHOUT_OPTIONS: ReadonlySet<string> = new Set([
  "close",
  "connect",
  "history",
  "printwatches",
  "quit",
  "redo",
  "whoami",
]);

/**
 * Options that exclude each other, with their descriptions from Commons CLI; setquota needs one of
 * them.
 */
const QUOTAS = {
  n: "num soft quota",
  b: "bytes soft quota",
  N: "num hard quota",
  B: "bytes hard quota",
};
const GROUPS: Readonly<
  Record<
    string,
    { readonly options: Readonly<Record<string, string>>; readonly isRequired: boolean }
  >
> = {
  setquota: { options: QUOTAS, isRequired: true },
  delquota: { options: QUOTAS, isRequired: false },
};

/** Throws UsageError with zkCli's message. */
export async function parseZkcli(
  words: readonly string[],
  { commands, cwd, marks }: ParseOptions,
): Promise<Invocation> {
  const [name = ""] = words;
  const entry = findCommand(commands, name);
  if (!entry) throw new UsageError(`unknown command '${name}'`, { reason: "unknown-command" });
  return new ZkcliLines(entry, await entry.load()).parse(words, cwd, marks);
}

/** Parses the lines of one command. */
export class ZkcliLines {
  readonly #declaration: Declaration;
  readonly #options: CommonsOptions;
  readonly #least: number;
  readonly #most: number;

  constructor(entry: CommandEntry, command: AnyCommand) {
    this.#declaration = declarationOf(entry, command);
    this.#options = commonsOptions(this.#declaration);
    this.#least = AT_LEAST[entry.name] ?? this.#declaration.required;
    this.#most = AT_MOST[entry.name] ?? Number.POSITIVE_INFINITY;
  }

  /** Throws UsageError with zkCli's message. */
  parse([, ...rest]: readonly string[], cwd: string, marks?: Marks): Invocation {
    const declaration = this.#declaration;
    const { entry, command } = declaration;
    const { words: own, behind } = splitCommand(rest, declaration);
    const { words, given } = new CommonsLine(entry.name, this.#options).parse(own);
    if (words.length < this.#least || words.length > this.#most) {
      throw new UsageError("too few or too many arguments", {
        reason: "missing-argument",
        hint: usage(entry.name, command),
      });
    }
    const placed = declaration.args.map(([, { arity }], index) =>
      arity === "rest" ? words.slice(index) : words[index],
    );
    dropExtraWords(declaration, placed);
    const where = { cwd, isVerbatim: true };
    return invocationOf(declaration, { words: placed, given, behind, marks, where });
  }
}

/**
 * Drops the extra words: `set /p two words` stores `two`. A number is kept, because it is zkCli's
 * old positional version or the count of zksh.
 */
function dropExtraWords({ args }: Declaration, words: unknown[]): void {
  for (const [index, [key]] of args.entries()) {
    if (key !== "version" && key !== "count") continue;
    if (!/^-?\d+$/.test(String(words[index]))) words[index] = undefined;
  }
}

/** By spelling, without the first dash. */
type CommonsOptions = ReadonlyMap<string, { readonly key: string; readonly takesValue: boolean }>;

function commonsOptions(declaration: Declaration): CommonsOptions {
  const options = declaration.options.flatMap(([key, { kind, short }]) =>
    [short.slice(1) || longName(key).slice(2), longName(key).slice(1)].map(
      (spelt) => [spelt, { key, takesValue: kind === "value" }] as const,
    ),
  );
  return new Map(options.filter(([spelt]) => spelt !== ""));
}

class CommonsLine {
  readonly words: string[] = [];
  readonly given: Record<string, string | true> = {};
  readonly #name: string;
  readonly #options: CommonsOptions;
  /** The option whose value must be the next word. */
  #open: { readonly key: string; readonly name: string } | undefined;
  #selected: string | undefined;

  constructor(name: string, options: CommonsOptions) {
    this.#name = name;
    this.#options = options;
  }

  parse(words: readonly string[]): this {
    const end = words.indexOf("--");
    for (const word of end < 0 ? words : words.slice(0, end)) this.#take(word);
    if (end >= 0) this.words.push(...words.slice(end + 1));
    this.#close();
    const group = GROUPS[this.#name];
    if (group?.isRequired && this.#selected === undefined) {
      const all = Object.entries(group.options).map(([option, text]) => `-${option} ${text}`);
      throw commonsError("MissingOption", `Missing required option: [${all.join(", ")}]`);
    }
    return this;
  }

  #take(word: string): void {
    if (this.#open && this.#isValue(word)) {
      this.given[this.#open.key] ??= word;
      this.#open = undefined;
    } else if (word.startsWith("-") && word !== "-") this.#takeOption(word);
    else this.words.push(word);
  }

  /** An option cannot be the value of an option: `-t -5` has a value, `-t -s` has none. */
  #isValue(word: string): boolean {
    if (!word.startsWith("-") || word === "-" || /^-\d/.test(word)) return true;
    const [name = ""] = word.slice(1).split("=");
    return !this.#options.has(name) && !this.#options.has(name.slice(0, 1));
  }

  #takeOption(word: string): void {
    const equals = word.indexOf("=");
    const name = word.slice(1, equals < 0 ? undefined : equals);
    const option = this.#options.get(name);
    if (option && equals < 0) this.#give(name);
    else if (option?.takesValue && (name.length === 1 || name.startsWith("-"))) {
      this.#give(name, word.slice(equals + 1));
    } else if (equals >= 0 && name.length === 1) this.#refuse(word);
    else this.#takeBundle(word);
  }

  /** `-es`, `-v5`. */
  #takeBundle(word: string): void {
    for (let i = 1; i < word.length; i++) {
      const name = word[i] ?? "";
      const option = this.#options.get(name);
      if (!option) return this.#refuse(word);
      const tail = word.slice(i + 1);
      this.#give(name, option.takesValue && tail !== "" ? tail : undefined);
      if (option.takesValue) return;
    }
  }

  #give(name: string, value?: string): void {
    this.#close();
    const { key, takesValue } = this.#options.get(name) ?? { key: name, takesValue: false };
    this.#select(name);
    if (!takesValue) this.given[key] = true;
    // As in zkCli, the first of two values wins.
    else if (value !== undefined) this.given[key] ??= value;
    else this.#open = { key, name };
  }

  #select(name: string): void {
    if (GROUPS[this.#name]?.options[name] === undefined) return;
    if (this.#selected !== undefined && this.#selected !== name) {
      throw commonsError(
        "AlreadySelected",
        `The option '${name}' was specified but an option from this group has already been selected: '${this.#selected}'`,
      );
    }
    this.#selected = name;
  }

  #close(): void {
    if (this.#open)
      throw commonsError("MissingArgument", `Missing argument for option: ${this.#open.name}`);
  }

  #refuse(word: string): void {
    if (WITHOUT_OPTIONS.has(this.#name)) this.words.push(word);
    else throw commonsError("UnrecognizedOption", `Unrecognized option: ${word}`);
  }
}

function commonsError(kind: string, text: string): UsageError {
  return new UsageError(`org.apache.commons.cli.${kind}Exception: ${text}`, {
    reason: "unknown-option",
  });
}
