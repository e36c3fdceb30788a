import type { Colors } from "./colors.ts";
import { displayWidth } from "./columns.ts";
import { escapeName } from "./escape.ts";

/** What a prompt shows. */
export interface PromptFacts {
  /** The server attached to, or the one to be reached. */
  readonly server: string;
  /** What is not as it should be: `connecting`, `suspended, 12 s left`, `not connected`. Left out when all is well. */
  readonly trouble?: string;
  readonly isReadOnly: boolean;
  /** The paths of the locks held in this session. */
  readonly locks: readonly string[];
  readonly cwd: string;
  /** The last line failed. */
  readonly hasFailed: boolean;
}

export interface PromptStyle {
  readonly columns: number;
  /** False where the terminal has ASCII only. */
  readonly isUnicode: boolean;
  readonly colors: Colors;
}

/** `zksh (connecting) zk1:2181 ro /app › `: badges are words, so that nothing depends on colour. */
export function renderPrompt(facts: PromptFacts, { columns, isUnicode, colors }: PromptStyle): string {
  const room = Math.max(8, Math.floor(columns / 3));
  const dots = isUnicode ? "…" : "...";
  const marker = isUnicode ? "›" : ">";
  const path = (text: string) => elide(toAscii(escapeName(text), isUnicode), room, dots);
  const [lock, ...moreLocks] = facts.locks;
  return [
    "zksh",
    ...(facts.trouble === undefined ? [] : [colors.error(`(${facts.trouble})`)]),
    colors.faint(escapeName(facts.server)),
    ...(facts.isReadOnly ? ["ro"] : []),
    ...(lock === undefined ? [] : [moreLocks.length > 0 ? `locks:${facts.locks.length}` : `lock:${path(lock)}`]),
    colors.parent(path(facts.cwd)),
    facts.hasFailed ? colors.error(marker) : marker,
    "",
  ].join(" ");
}

/** Shown while a quote is open. */
export function continuationPrompt({ isUnicode, colors }: PromptStyle): string {
  return colors.faint(isUnicode ? "  … " : "  ... ");
}

/** Drops names from the middle of a path until it fits; the last name stays, cut at its start if it must be. */
export function elide(path: string, room: number, dots = "…"): string {
  if (displayWidth(path) <= room) return path;
  const [, first = "", ...names] = path.split("/");
  for (let from = 1; from < names.length; from++) {
    const short = `/${first}/${dots}/${names.slice(from).join("/")}`;
    if (displayWidth(short) <= room) return short;
  }
  const last = `${dots}/${names.at(-1) ?? first}`;
  if (displayWidth(last) <= room) return last;
  const characters = [...(names.at(-1) ?? first)];
  while (characters.length > 1 && displayWidth(characters.join("")) > room - displayWidth(dots)) characters.shift();
  return dots + characters.join("");
}

function toAscii(text: string, isUnicode: boolean): string {
  return isUnicode ? text : text.replace(/[^ -~]/gu, "?");
}
