/**
 * Takes the program's own options out of a line: the one that started it, or a line at the prompt
 * or of a script.
 */
import { type CommandEntry, findCommand } from "../../commands/command.ts";
import {
  type GlobalFlags,
  type GlobalName,
  type GlobalOption,
  globalSpelling,
} from "../../config/global-options.ts";
import { UsageError } from "../../errors.ts";
import type { Aliases } from "../aliases.ts";
import {
  findLong,
  findShort,
  GlobalOptionTaker,
  isOption,
  isProfileWord,
  ownOptions,
} from "./global-option-taker.ts";
import { type Marks, textOf } from "./marked-words.ts";
import type { Dialect } from "./parser.ts";

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
  /** The words of the line that stand for others. */
  readonly marks?: Marks | undefined;
}

interface CommandLineOptions {
  readonly commands: readonly CommandEntry[];
  readonly aliases?: Aliases | undefined;
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
  const { commands } = options;
  const taker = new GlobalOptionTaker(argv, () => {}, {
    isServer: (word) => looksLikeServer(word) && findCommand(commands, word) === undefined,
  });
  return split(taker, options);
}

/** `zk1:2181,zk2:2181/app`, as Kafka's zookeeper-shell takes it as its first argument. */
function looksLikeServer(word: string): boolean {
  return /^\w[\w.-]*:\d+(,\w[\w.-]*(:\d+)?)*(\/\S*)?$/.test(word);
}

/**
 * The same for one line of the shell or of a script, where only options that can hold for one line
 * are accepted.
 */
export async function splitStatement(
  words: readonly string[],
  options: StatementOptions,
): Promise<SplitLine> {
  const { commands, dialect, marks } = options;
  // zkCli's lines are exactly zkCli's, and most lines have no options at all.
  const hasOptions = words.some(isOption) || isProfileWord(words[0] ?? "");
  if (dialect === "zkcli" || !hasOptions) return { flags: NO_FLAGS, words };
  const taken = await split(new GlobalOptionTaker(words, refuseForOneLine), {
    commands,
    isZkcli: () => false,
  });
  const line = marks ? { ...taken, flags: withoutMarks(taken.flags, marks) } : taken;
  if (line.mistake || line.words.length > 0) return line;
  return {
    ...line,
    mistake: new UsageError(`there is no command after ${words.join(" ")}`, {
      hint: "help lists all commands",
    }),
  };
}

function withoutMarks(flags: GlobalFlags, marks: Marks): GlobalFlags {
  const entries = Object.entries(flags);
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.map((value) => textOf(value, marks))]),
  );
}

/** Where the command word stands among the words of a line; -1 when there is none. */
export function commandIndex(words: readonly string[]): number {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return index + 1 < words.length ? index + 1 : -1;
    if (!isOption(word)) return index;
    const option = findLong(word) ?? findShort(word);
    if (option?.value !== undefined) index++;
  }
  return -1;
}

async function split(
  taker: GlobalOptionTaker,
  { commands, aliases, isZkcli }: CommandLineOptions,
): Promise<SplitLine> {
  try {
    while (taker.hasMore && taker.words.length === 0) taker.takeBeforeCommand();
    const alias = isZkcli(taker.flags) ? undefined : aliases?.wordsOf(taker.words[0] ?? "");
    if (alias) taker.expandCommand(await alias);
    // Loaded only for lines that have options behind the command word: without any there is nothing
    // to tell apart.
    if (taker.hasOptions) {
      const entry = isZkcli(taker.flags) ? undefined : findCommand(commands, taker.words[0] ?? "");
      taker.takeBehindCommand(entry && ownOptions(await entry.load()));
    }
    taker.takeRest();
  } catch (mistake) {
    if (!(mistake instanceof UsageError)) throw mistake;
    taker.giveUp();
    return { flags: taker.flags, words: taker.words, mistake };
  }
  return { flags: taker.flags, words: taker.words };
}

/** What to do instead, for options that cannot hold for one line. */
const INSTEAD: { readonly [Name in GlobalName]?: string } = {
  server: ", or use connect HOSTS",
  auth: ", or use addauth SCHEME CREDENTIAL",
  profile: ", or use connect @NAME",
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
