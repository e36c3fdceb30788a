/** Which words of a line are options of the program, and which are left to the command. */
import type { Option } from "../../commands/arguments.ts";
import type { AnyCommand } from "../../commands/command.ts";
import { longName } from "../../commands/usage.ts";
import {
  type GlobalName,
  type GlobalOption,
  globalOptions,
  globalSpelling,
} from "../../config/global-options.ts";
import { UsageError } from "../../errors.ts";
import { didYouMean, suggest } from "../../text/suggest.ts";

const options: readonly GlobalOption[] = globalOptions;

const PROFILE = options.find(({ name }) => name === "profile") as GlobalOption;

/** A command's own options, as they may be written, and whether a value follows. */
export type OwnOptions = ReadonlyMap<string, { readonly takesValue: boolean }>;

export function ownOptions(command: AnyCommand): OwnOptions {
  const own = new Map([["-h", { takesValue: false }]]);
  for (const [key, { kind, short }] of Object.entries<Option<unknown>>(command.options)) {
    const long = longName(key);
    // Without a letter the long name may also be written with one dash, as zkCli's -add.
    for (const name of [long, short === "" ? long.slice(1) : short])
      own.set(name, { takesValue: kind === "value" });
  }
  return own;
}

/** `@prod` in front of the command word is `--profile prod`. */
export function isProfileWord(word: string): boolean {
  return /^@[\w.-]+$/.test(word);
}

export function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

export function findLong(token: string): GlobalOption | undefined {
  if (!token.startsWith("--")) return undefined;
  const wanted = token.slice("--".length);
  return options.find(({ name, long }) => long !== false && name === wanted);
}

export function findShort(token: string): GlobalOption | undefined {
  return options.find(({ short }) => short === token);
}

/** Takes the program's options out of the words of one line, word by word. */
export class GlobalOptionTaker {
  readonly flags: { [Name in GlobalName]?: string[] } = {};
  readonly words: string[] = [];
  readonly #rest: string[];
  readonly #check: (option: GlobalOption, token: string) => void;
  readonly #isServer: (word: string) => boolean;

  /** `isServer`: a word before the command that names the servers, without -s. */
  constructor(
    argv: readonly string[],
    check: (option: GlobalOption, token: string) => void,
    { isServer = () => false }: { readonly isServer?: (word: string) => boolean } = {},
  ) {
    this.#rest = [...argv];
    this.#check = check;
    this.#isServer = isServer;
  }

  get hasMore(): boolean {
    return this.#rest.length > 0;
  }

  get hasOptions(): boolean {
    return this.#rest.some(isOption);
  }

  takeBeforeCommand(): void {
    const token = this.#next();
    if (token === "--") this.takeRest();
    else if (token === "-h" || token === "--help") this.#insteadOfCommand("help", 1);
    else if (token === "-V" || token === "--version") this.#insteadOfCommand("version", 0);
    else if (isProfileWord(token)) this.#store(PROFILE, token, token.slice(1));
    else if (this.flags.server === undefined && this.#isServer(token)) this.flags.server = [token];
    else if (!isOption(token)) this.words.push(token);
    else if (!this.#takeLong(token) && !this.#takeZkcli(token) && !this.#takeShorts(token))
      throw unknownOption(token);
  }

  /**
   * Without `own` the command is unknown, or reads its own letters: only long options are the
   * program's.
   */
  takeBehindCommand(own: OwnOptions | undefined): void {
    while (this.hasMore) {
      const token = this.#next();
      if (token === "--") return void this.words.push(token, ...this.#rest.splice(0));
      if (!isOption(token) || !this.#takeOption(token, own)) this.words.push(token);
    }
  }

  /** Puts the words of an alias in the place of the command word; options may be among them. */
  expandCommand(words: readonly string[]): void {
    this.words.pop();
    this.#rest.unshift(...words);
    while (this.hasMore && this.words.length === 0) this.takeBeforeCommand();
  }

  takeRest(): void {
    this.words.push(...this.#rest.splice(0));
  }

  /** After a mistake: only how it is to be shown is still of interest. */
  giveUp(): void {
    if (this.#rest.includes("--json")) this.flags.json = ["true"];
    this.takeRest();
  }

  /** False for a word that is left to the command. */
  #takeOption(token: string, own: OwnOptions | undefined): boolean {
    const [name = token] = token.split("=", 1);
    const option = own?.get(name);
    if (!option)
      return this.#takeLong(token) || (own !== undefined && this.#takeShortsBehind(token, own));
    // The value stays with its option, also where it looks like an option.
    if (option.takesValue && name === token) this.words.push(token, ...this.#rest.splice(0, 1));
    else this.words.push(token);
    return true;
  }

  #next(): string {
    return this.#rest.shift() ?? "";
  }

  /** `zksh --help get /a` runs `help get`. */
  #insteadOfCommand(word: string, wordsKept: number): void {
    while (this.hasMore && this.words.length === 0) this.takeBeforeCommand();
    this.takeBehindCommand(undefined);
    const kept = this.words.splice(0).slice(0, wordsKept);
    this.words.push(word, ...kept);
  }

  #takeLong(token: string): boolean {
    const equals = token.indexOf("=");
    const option = findLong(equals < 0 ? token : token.slice(0, equals));
    if (option)
      this.#store(option, globalSpelling(option), equals < 0 ? undefined : token.slice(equals + 1));
    return option !== undefined;
  }

  #takeZkcli(token: string): boolean {
    const option = options.find(({ zkcli }) => zkcli === token);
    if (!option) return false;
    // A bare number is milliseconds in zkCli's spelling, and nowhere else.
    if (option.value === "DUR" && /^\d+$/.test(this.#rest[0] ?? "")) this.#rest[0] += "ms";
    this.#store(option, token, undefined);
    return true;
  }

  /** `-r`, `-qr`, `-s HOSTS`, `-ojson`. */
  #takeShorts(token: string): boolean {
    if (token.startsWith("--") || isSlipOfZkcli(token)) return false;
    for (let i = 1; i < token.length; i++) {
      const short = `-${token[i]}`;
      const option = findShort(short);
      if (!option) return false;
      const attached = token.slice(i + 1);
      this.#store(
        option,
        short,
        option.value !== undefined && attached !== "" ? attached : undefined,
      );
      if (option.value !== undefined) return true;
    }
    return true;
  }

  /** As {@link #takeShorts}, among the command's own letters: of `lock -nv` it leaves `-n`. */
  #takeShortsBehind(token: string, own: OwnOptions): boolean {
    if (token.startsWith("--")) return false;
    let kept = "";
    const taken: GlobalOption[] = [];
    for (let i = 1; i < token.length; i++) {
      const letter = token[i] ?? "";
      const mine = own.get(`-${letter}`);
      const attached = token.slice(i + 1);
      if (mine?.takesValue) {
        this.words.push(
          `-${kept}${letter}${attached}`,
          ...(attached === "" ? this.#rest.splice(0, 1) : []),
        );
        kept = "";
        break;
      }
      // -c and -f run scripts: behind a command word they can only be a mistake.
      const option = mine
        ? undefined
        : options.find(({ short, long }) => short === `-${letter}` && long !== false);
      if (option) taken.push(option);
      else if (mine) kept += letter;
      else return false;
      if (option?.value === undefined) continue;
      this.#store(option, `-${letter}`, attached === "" ? undefined : attached);
      taken.pop();
      break;
    }
    for (const option of taken) this.#store(option, option.short ?? "", undefined);
    if (kept !== "") this.words.push(`-${kept}`);
    return true;
  }

  #store(option: GlobalOption, token: string, attached: string | undefined): void {
    this.#check(option, token);
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
  const like = didYouMean(name, [...longs, ...zkcliSpellings()]);
  // Only the name: a value behind a misspelt --auth= would be a secret on the screen and in the
  // log.
  return new UsageError(`unknown option '${name}'`, {
    reason: "unknown-option",
    hint: like ?? "help options lists all options",
  });
}
