import type { LockMode } from "../recipes/locks/holder-record.ts";
import { escapeName } from "../text/escape.ts";
import { characters, displayWidth } from "./display-width.ts";
import type { LabelColour, Theme } from "./theme.ts";

/** What a prompt shows. */
export interface PromptFacts {
  /** The server attached to, or the one to be reached, with the chroot: `zk1:2181/app`. */
  readonly server: string;
  /**
   * The trouble with the connection: `connecting`, `suspended, 12 s left`, `not connected`. Left out
   * when all is well.
   */
  readonly trouble?: string;
  readonly isReadOnly: boolean;
  /** The word of the profile. */
  readonly label?: { readonly text: string; readonly colour?: LabelColour | undefined };
  /** The locks held in this session, in the order in which they were taken. */
  readonly locks: readonly PromptLock[];
  readonly cwd: string;
  /** The last line failed. */
  readonly hasFailed: boolean;
}

export interface PromptLock {
  readonly path: string;
  readonly mode: LockMode;
}

export interface PromptStyle {
  readonly columns: number;
  /** False where the terminal has ASCII only. */
  readonly isUnicode: boolean;
  readonly theme: Theme;
}

/**
 * `zksh (connecting) zk1:2181 ro lock:/deploy /app › `: badges are words, so that nothing depends
 * on colour.
 */
export function renderPrompt(
  facts: PromptFacts,
  { columns, isUnicode, theme }: PromptStyle,
): string {
  const room = Math.max(8, Math.floor(columns / 3));
  const dots = isUnicode ? "…" : "...";
  const marker = isUnicode ? "›" : ">";
  const path = (text: string, most: number) =>
    elide(toAscii(escapeName(text), isUnicode), most, dots);
  return [
    "zksh",
    ...(facts.trouble === undefined ? [] : [theme.error(`(${facts.trouble})`)]),
    ...(facts.label === undefined
      ? []
      : [theme.label(toAscii(escapeName(facts.label.text), isUnicode), facts.label.colour)]),
    theme.server(escapeName(facts.server)),
    ...(facts.isReadOnly ? [theme.readOnly("ro")] : []),
    ...lockBadges(facts.locks, room, path).map((badge) => theme.held(badge)),
    theme.path(path(facts.cwd, room)),
    facts.hasFailed ? theme.error(marker) : marker,
    "",
  ].join(" ");
}

const LOCK_WORDS: Readonly<Record<LockMode, string>> = {
  exclusive: "lock",
  read: "read",
  write: "write",
  semaphore: "sem",
  leader: "leader",
};

/** `lock:/a,/b read:/db`, and `+2` for those that there is no room for. */
function lockBadges(
  locks: readonly PromptLock[],
  room: number,
  shownPath: (path: string, room: number) => string,
): string[] {
  const badges: string[] = [];
  const most = Math.max(8, Math.floor(room / Math.min(locks.length, 3)));
  let left = room;
  for (const [index, { path, mode }] of locks.entries()) {
    const isSameWord = locks[index - 1]?.mode === mode;
    const text = `${isSameWord ? "," : `${LOCK_WORDS[mode]}:`}${shownPath(path, most)}`;
    left -= displayWidth(text);
    if (left < 0 && index > 0) return [...badges, `+${locks.length - index}`];
    badges.push(isSameWord ? badges.pop() + text : text);
  }
  return badges;
}

/** Shown while a quote is open. */
export function continuationPrompt({ isUnicode, theme }: PromptStyle): string {
  return theme.faint(isUnicode ? "  … " : "  ... ");
}

/**
 * Drops names from the middle of a path until it fits; the last name stays, cut at its start if it
 * must be.
 */
export function elide(path: string, room: number, dots = "…"): string {
  if (displayWidth(path) <= room) return path;
  const [, first = "", ...names] = path.split("/");
  for (let from = 1; from < names.length; from++) {
    const short = `/${first}/${dots}/${names.slice(from).join("/")}`;
    if (displayWidth(short) <= room) return short;
  }
  const last = `${dots}/${names.at(-1) ?? first}`;
  if (displayWidth(last) <= room) return last;
  return dots + lastCharacters(names.at(-1) ?? first, room - displayWidth(dots));
}

/** The end of a text, as much as fits; the last character in any case. */
function lastCharacters(text: string, room: number): string {
  const all = [...characters(text)];
  let from = all.length - 1;
  for (let left = room - (all[from]?.width ?? 0); from > 0; from--) {
    left -= all[from - 1]?.width ?? 0;
    if (left < 0) break;
  }
  return all
    .slice(from)
    .map((character) => character.text)
    .join("");
}

function toAscii(text: string, isUnicode: boolean): string {
  return isUnicode ? text : text.replace(/[^ -~]/gu, "?");
}
