import { UsageError } from "../errors.ts";
import { type GlobalFlags, type GlobalName, type GlobalOption, globalOptions } from "../global-options.ts";
import { suggest } from "./suggest.ts";

export interface SplitLine {
  readonly flags: GlobalFlags;
  /** The command word and everything that is its own; empty when there is no command. */
  readonly words: readonly string[];
}

/**
 * Takes the program's own options out of a command line. Long ones may stand anywhere before `--`; short ones and
 * zkCli's one-dash spellings only before the command word, because after it they belong to the command.
 */
export function splitGlobals(argv: readonly string[]): SplitLine {
  const splitter = new Splitter(argv);
  while (splitter.hasMore) {
    if (splitter.words.length === 0) splitter.takeBeforeCommand();
    else splitter.takeAfterCommand();
  }
  return { flags: splitter.flags, words: splitter.words };
}

const options: readonly GlobalOption[] = globalOptions;

function findLong(token: string): GlobalOption | undefined {
  if (!token.startsWith("--")) return undefined;
  const wanted = token.slice("--".length);
  return options.find(({ name, long }) => long !== false && name === wanted);
}

class Splitter {
  readonly flags: { [Name in GlobalName]?: string[] } = {};
  readonly words: string[] = [];
  readonly #rest: string[];

  constructor(argv: readonly string[]) {
    this.#rest = [...argv];
  }

  get hasMore(): boolean {
    return this.#rest.length > 0;
  }

  takeBeforeCommand(): void {
    const token = this.#next();
    if (token === "--") this.words.push(...this.#rest.splice(0));
    else if (token === "-h" || token === "--help") this.#insteadOfCommand("help", 1);
    else if (token === "-V" || token === "--version") this.#insteadOfCommand("version", 0);
    else if (!token.startsWith("-") || token === "-") this.words.push(token);
    else if (!this.#takeLong(token) && !this.#takeZkcli(token) && !this.#takeShorts(token)) throw unknownOption(token);
  }

  takeAfterCommand(): void {
    const token = this.#next();
    if (token === "--") this.words.push(token, ...this.#rest.splice(0));
    else if (!this.#takeLong(token)) this.words.push(token);
  }

  #next(): string {
    return this.#rest.shift() ?? "";
  }

  /** `zksh --help get /a` runs `help get`. */
  #insteadOfCommand(word: string, wordsKept: number): void {
    const { words, flags } = splitGlobals(this.#rest.splice(0));
    Object.assign(this.flags, flags);
    this.words.push(word, ...words.slice(0, wordsKept));
  }

  #takeLong(token: string): boolean {
    const equals = token.indexOf("=");
    const option = findLong(equals < 0 ? token : token.slice(0, equals));
    if (option) this.#store(option, token, equals < 0 ? undefined : token.slice(equals + 1));
    return option !== undefined;
  }

  #takeZkcli(token: string): boolean {
    const option = options.find(({ zkcli }) => zkcli === token);
    if (option) this.#store(option, token, undefined);
    return option !== undefined;
  }

  /** `-r`, `-qr`, `-s HOSTS`, `-ojson`. */
  #takeShorts(token: string): boolean {
    if (token.startsWith("--") || isSlipOfZkcli(token)) return false;
    for (let i = 1; i < token.length; i++) {
      const short = `-${token[i]}`;
      const option = options.find((candidate) => candidate.short === short);
      if (!option) return false;
      const attached = token.slice(i + 1);
      this.#store(option, short, option.value !== undefined && attached !== "" ? attached : undefined);
      if (option.value !== undefined) return true;
    }
    return true;
  }

  #store(option: GlobalOption, token: string, attached: string | undefined): void {
    const value = attached ?? (option.value === undefined ? "true" : this.#rest.shift());
    if (value === undefined) throw new UsageError(`option ${token} needs a value: ${option.value}`);
    const name = option.name as GlobalName;
    this.flags[name] = [...(this.flags[name] ?? []), value];
  }
}

/** `-sever` is a misspelt `-server`, not the server `ever`. */
function isSlipOfZkcli(token: string): boolean {
  return token.length > 4 && suggest(token, zkcliSpellings()) !== undefined;
}

function zkcliSpellings(): string[] {
  return options.flatMap(({ zkcli }) => zkcli ?? []);
}

function unknownOption(token: string): UsageError {
  const [name = token] = token.split("=");
  const longs = options.flatMap(({ name, long }) => (long === false ? [] : `--${name}`));
  const like = suggest(name, [...longs, ...zkcliSpellings()]);
  // Only the name: a value behind a misspelt --auth= would be a secret on the screen and in the log.
  return new UsageError(`unknown option '${name}'`, {
    reason: "unknown-option",
    hint: like ? `did you mean ${like}?` : "zksh help options lists them all",
  });
}
