/** Completes the word at the cursor for TAB. Reads child names through `list`; prints nothing. */
import { type Argument, newZnodePath, type Option, znodePath } from "../../commands/arguments.ts";
import { choicesOf } from "../../commands/choices.ts";
import { type AnyCommand, type CommandEntry, findCommand } from "../../commands/command.ts";
import { longName } from "../../commands/usage.ts";
import { oneLineOptions } from "../../config/global-options.ts";
import { quoteWord } from "../../text/quote-word.ts";
import { lex, type Word } from "../parsing/lexer.ts";
import { withoutAssignment } from "../parsing/line-words.ts";
import { commandIndex } from "../parsing/split-globals.ts";
import type { CachedChildren } from "./children-cache.ts";

/** More candidates than this are not shown. */
export const MAX_SHOWN = 200;
const MAX_SORTED = 10_000;

const ONE_LINE_OPTIONS = oneLineOptions.map(({ name }) => `--${name}`);

export interface Completion {
  /** The text up to the cursor, with the part that all candidates share. */
  readonly text: string;
  /** The candidates to show, only the last part of a path. */
  readonly shown: readonly string[];
  /** A message below the candidates, such as how many more there are. */
  readonly note?: string;
}

export interface CompletionSources {
  readonly commands: readonly CommandEntry[];
  /** The names that the settings file has for lines. */
  readonly aliases?: Iterable<string>;
  readonly cwd: string;
  /** The candidates for `unlock`. */
  readonly heldLocks?: readonly string[];
  list(parent: string): Promise<CachedChildren>;
}

/** Completes `before`, the text before the cursor. */
export async function complete(before: string, sources: CompletionSources): Promise<Completion> {
  const place = findPlace(before);
  if (!place) return { text: before, shown: [] };
  const { word } = place;
  const words = withoutAssignment(place.words);
  const at = commandIndex(words.map(({ text }) => text));
  if (at < 0) {
    const isOption = word.text.startsWith("-");
    const names = isOption
      ? ONE_LINE_OPTIONS
      : [...commandNames(sources.commands, word.text), ...(sources.aliases ?? [])];
    return finish(before, { word, words: [] }, names);
  }
  const entry = findCommand(sources.commands, words[at]?.text ?? "");
  if (!entry) return { text: before, shown: [] };
  if (entry.name === "help")
    return finish(before, place, commandNames(sources.commands, word.text));
  const command = await entry.load();
  if (word.text.startsWith("-")) return finish(before, place, optionNames(command, word.text));
  const { kind, choices = [] } = argumentAt(command, words.slice(at + 1));
  if (choices.length > 0) return finish(before, place, choices);
  if (entry.name === "unlock" && kind === "path")
    return finish(before, place, sources.heldLocks ?? []);
  if (kind === "value" || (kind !== "path" && !word.text.startsWith("/")))
    return { text: before, shown: [] };
  return completePath(before, place, sources);
}

interface Place {
  /** The word at the cursor; empty after a blank. */
  readonly word: Word;
  /** The words of the same statement before it. */
  readonly words: readonly Word[];
}

function findPlace(before: string): Place | undefined {
  const fresh = { text: "", start: before.length, end: before.length };
  const { statements, unclosed } = lex(before, { hasPipes: true });
  const last = statements.at(-1);
  // The rest is a command of the system shell.
  if (last?.pipe !== undefined) return undefined;
  const word = last?.words.at(-1);
  if (!last || !word) return before.includes("#") ? undefined : { word: fresh, words: [] };
  if (unclosed || word.end === before.length) return { word, words: last.words.slice(0, -1) };
  const rest = before.slice(word.end);
  if (rest.includes("#")) return undefined;
  return { word: fresh, words: /[;\n]/.test(rest) ? [] : last.words };
}

/** Aliases are candidates only if the typed text begins one. */
function commandNames(commands: readonly CommandEntry[], begun: string): string[] {
  const aliases = commands.flatMap(({ aliases: own = [] }) =>
    own.filter((name) => begun !== "" && name.startsWith(begun)),
  );
  return [...commands.map(({ name }) => name), ...aliases];
}

function optionNames(command: AnyCommand, begun: string): string[] {
  const own = Object.entries<Option<unknown>>(command.options).flatMap(([key, { short }]) =>
    short === "" ? [longName(key)] : [short, longName(key)],
  );
  // After one dash only the options of the command are candidates.
  return begun.startsWith("--") ? [...new Set([...own, ...ONE_LINE_OPTIONS])] : own;
}

interface NextWord {
  readonly kind: "path" | "value" | "other";
  /** The words that are offered for it. */
  readonly choices?: readonly string[];
}

/** What the next word after `words` is. */
function argumentAt(command: AnyCommand, words: readonly Word[]): NextWord {
  const options = Object.entries<Option<unknown>>(command.options);
  // An option without a short name has an empty one, which no word is.
  const takesValue = (text: string) =>
    text !== "" &&
    options.find(
      ([key, { kind, short }]) => kind === "value" && (text === short || text === longName(key)),
    )?.[1];
  let position = 0;
  for (const [index, { text }] of words.entries()) {
    if (text.startsWith("-") && text !== "-") continue;
    if (!takesValue(words[index - 1]?.text ?? "")) position++;
  }
  const option = takesValue(words.at(-1)?.text ?? "");
  if (option)
    return { kind: "value", ...("parse" in option && { choices: choicesOf(option.parse) }) };
  const args = Object.entries<Argument<unknown>>(command.args);
  const [key = "", argument] =
    args[position] ?? args.filter(([, { arity }]) => arity === "rest").at(-1) ?? [];
  const isPath =
    argument?.parse === znodePath || argument?.parse === newZnodePath || /path|znode/i.test(key);
  return {
    kind: isPath ? "path" : "other",
    ...(argument && { choices: choicesOf(argument.parse) }),
  };
}

async function completePath(
  before: string,
  place: Place,
  { cwd, list }: CompletionSources,
): Promise<Completion> {
  const typed = place.word.text.replace(/\/{2,}/g, "/");
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const parent = folderPath(folder, cwd);
  if (parent === undefined) return { text: before, shown: [] };
  const { names, tooMany } = await list(parent);
  if (tooMany !== undefined)
    return { text: before, shown: [], note: `${count(tooMany)} children: TAB again lists them` };
  if (names === undefined) return { text: before, shown: [] };
  // Any client can create a znode called --yes: it must not become an option of deleteall.
  const candidates = names.map((name) =>
    folder === "" && name.startsWith("-") ? `./${name}` : name,
  );
  const completion = finish(before, place, candidates, folder);
  // The name is complete: add a slash if it has children.
  if (completion.text !== before || typed === folder || !names.includes(typed.slice(folder.length)))
    return completion;
  const below = await list(folderPath(`${typed}/`, cwd) ?? parent);
  if (below.tooMany === undefined && (below.names?.length ?? 0) === 0) return completion;
  return completion.shown.length > 1
    ? completion
    : { text: replaceWord(before, place, `${typed}/`), shown: [] };
}

function folderPath(folder: string, cwd: string): string | undefined {
  if (folder === "") return cwd;
  if (folder === "/") return "/";
  try {
    const path = znodePath(folder.slice(0, -1), { cwd });
    return typeof path === "string" ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Completes the part of the word after `folder` with the matching candidates. */
function finish(
  before: string,
  place: Place,
  candidates: readonly string[],
  folder = "",
): Completion {
  const typed = place.word.text.replace(/\/{2,}/g, "/").slice(folder.length);
  const found = matches(candidates, typed);
  const [first] = found;
  if (first === undefined) return { text: before, shown: [] };
  const common = commonPrefix(found);
  const isFuller = common.startsWith(typed) ? common.length > typed.length : found.length === 1;
  const isPath = folder !== "" || place.words.length > 0;
  // A complete command or option is followed by a blank; a path may continue.
  const isWhole =
    found.length === 1 && (place.words.length === 0 || (folder === "" && first.startsWith("-")));
  const text =
    isFuller || isWhole
      ? replaceWord(before, place, folder + common) + (isWhole ? " " : "")
      : before;
  // Sorting very many names takes noticeable time, and only a few are shown.
  const sorted = found.length > MAX_SORTED ? found : found.toSorted();
  const shown = found.length === 1 ? [] : sorted.slice(0, MAX_SHOWN);
  const more = found.length - shown.length;
  const note =
    found.length > 1 && more > 0
      ? `… ${count(more)} more${isPath ? ", type on to see fewer" : ""}`
      : undefined;
  return { text, shown, ...(note !== undefined && { note }) };
}

/**
 * Matches by prefix; without a match, by prefix ignoring case; without a match, by any part of the
 * name.
 */
function matches(candidates: readonly string[], typed: string): readonly string[] {
  const lower = typed.toLowerCase();
  const ways: ((name: string) => boolean)[] = [
    (name) => name.startsWith(typed),
    (name) => name.toLowerCase().startsWith(lower),
    (name) => name.toLowerCase().includes(lower),
  ];
  for (const fits of ways) {
    const found = candidates.filter(fits);
    if (found.length > 0) return found;
  }
  return [];
}

function commonPrefix(words: readonly string[]): string {
  const [first = ""] = words;
  let { length } = first;
  for (const word of words) {
    let same = 0;
    while (same < length && word.charCodeAt(same) === first.charCodeAt(same)) same++;
    length = same;
  }
  // Half a surrogate pair cannot be written.
  return first.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

function replaceWord(before: string, { word }: Place, text: string): string {
  return before.slice(0, word.start) + quoteWord(text);
}

function count(n: number): string {
  return n.toLocaleString("en-US");
}
