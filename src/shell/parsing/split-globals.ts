/**
 * Takes the program's own options out of a line: the one that started it, or a line at the prompt
 * or of a script.
 */
import type { Option } from "../../commands/arguments.ts";
import { type AnyCommand, type CommandEntry, findCommand } from "../../commands/command.ts";
import { longName } from "../../commands/usage.ts";
import {
  type GlobalFlags,
  type GlobalName,
  type GlobalOption,
  globalOptions,
  globalSpelling,
} from "../../config/global-options.ts";
import { UsageError } from "../../errors.ts";
import type { Dialect } from "./parser.ts";
import { didYouMean, suggest } from "./suggest.ts";

export interface SplitLine {
  readonly flags: GlobalFlags;
  /** The command word and everything that is its own; empty when there is no command. */
  readonly words: readonly string[];
  /**
   * What is wrong with the options: to be thrown once the caller knows the flags, which say how
   * errors are shown.
   */
  readonly mistake?: UsageError;
}

interface StatementOptions {
  readonly commands: readonly CommandEntry[];
  readonly dialect: Dialect;
}

interface CommandLineOptions {
  readonly commands: readonly CommandEntry[];
  /**
   * Whether a short option behind the command word is always the command's, by the options before
   * it.
   */
  isZkcli(flags: GlobalFlags): boolean;
}

const NO_FLAGS: GlobalFlags = Object.freeze({});

/**
 * The command line that started the program. Long options may stand anywhere before `--`. Short
 * ones may stand before the command word, and behind it where the command has no option of that
 * letter. zkCli's one-dash spellings stand before it.
 */
export function splitGlobals(
  argv: readonly string[],
  options: CommandLineOptions,
): Promise<SplitLine> {
  return split(new Splitter(argv, () => {}), options);
}

/**
 * The same for one line of the shell or of a script, where only options that can hold for one line
 * are accepted.
 */
export async function splitStatement(
  words: readonly string[],
  options: StatementOptions,
): Promise<SplitLine> {
  const { commands, dialect } = options;
  // zkCli's lines are exactly zkCli's, and most lines have no options at all.
  if (dialect === "zkcli" || !words.some(isOption)) return { flags: NO_FLAGS, words };
  const line = await split(new Splitter(words, refuseForOneLine), {
    commands,
    isZkcli: () => false,
  });
  if (line.mistake || line.words.length > 0) return line;
  return {
    ...line,
    mistake: new UsageError(`there is no command after ${words.join(" ")}`, {
      hint: "help lists all commands",
    }),
  };
}

/** Where the command word stands among the words of a line; -1 when there is none. */
export function commandIndex(words: readonly string[]): number {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return index + 1 < words.length ? index + 1 : -1;
    if (!isOption(word)) return index;
    const option = findLong(word) ?? options.find(({ short }) => short === word);
    if (option?.value !== undefined) index++;
  }
  return -1;
}

const options: readonly GlobalOption[] = globalOptions;

async function split(
  splitter: Splitter,
  { commands, isZkcli }: CommandLineOptions,
): Promise<SplitLine> {
  try {
    while (splitter.hasMore && splitter.words.length === 0) splitter.takeBeforeCommand();
    // Loaded only for lines that have options behind the command word: without any there is nothing
    // to tell apart.
    if (splitter.hasOptions) {
      const entry = isZkcli(splitter.flags)
        ? undefined
        : findCommand(commands, splitter.words[0] ?? "");
      splitter.takeBehindCommand(entry && ownOptions(await entry.load()));
    }
    splitter.takeRest();
  } catch (mistake) {
    if (!(mistake instanceof UsageError)) throw mistake;
    splitter.giveUp();
    return { flags: splitter.flags, words: splitter.words, mistake };
  }
  return { flags: splitter.flags, words: splitter.words };
}

/** A command's own options, as they may be written, and whether a value follows. */
type OwnOptions = ReadonlyMap<string, { readonly takesValue: boolean }>;

function ownOptions(command: AnyCommand): OwnOptions {
  const own = new Map([["-h", { takesValue: false }]]);
  for (const [key, { kind, short }] of Object.entries<Option<unknown>>(command.options)) {
    const long = longName(key);
    // Without a letter the long name may also be written with one dash, as zkCli's -add.
    for (const name of [long, short === "" ? long.slice(1) : short])
      own.set(name, { takesValue: kind === "value" });
  }
  return own;
}

function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

function findLong(token: string): GlobalOption | undefined {
  if (!token.startsWith("--")) return undefined;
  const wanted = token.slice("--".length);
  return options.find(({ name, long }) => long !== false && name === wanted);
}

/** What to do instead, for options that cannot hold for one line. */
const INSTEAD: { readonly [Name in GlobalName]?: string } = {
  server: ", or use connect HOSTS",
  auth: ", or use addauth SCHEME CREDENTIAL",
};

function refuseForOneLine(option: GlobalOption, token: string): void {
  if (option.holdsForOneLine) return;
  const long = globalSpelling(option);
  const spelling = token === long ? long : `${token} (${long})`;
  throw new UsageError(`${spelling} applies to the whole program, not to one line`, {
    reason: "not-for-one-line",
    hint: `start zksh with this option${INSTEAD[option.name as GlobalName] ?? ""}`,
  });
}

class Splitter {
  readonly flags: { [Name in GlobalName]?: string[] } = {};
  readonly words: string[] = [];
  readonly #rest: string[];
  readonly #check: (option: GlobalOption, token: string) => void;

  constructor(argv: readonly string[], check: (option: GlobalOption, token: string) => void) {
    this.#rest = [...argv];
    this.#check = check;
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
    // The value stays with its option, whatever it looks like.
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
      const option = options.find((candidate) => candidate.short === short);
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
