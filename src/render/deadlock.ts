/** A deadlock in words one can act on: each wait in a line, and which commands end it. */

import { type Deadlock, waysOut } from "../recipes/locks/inspect/deadlocks.ts";
import { escapeName } from "../text/escape.ts";
import { nameParty } from "../text/party-name.ts";
import { quoteWord } from "../text/quote-word.ts";
import { displayWidth } from "./display-width.ts";
import type { View } from "./renderer.ts";
import { wrapText } from "./wrap-text.ts";

interface Sentence {
  readonly who: string;
  readonly does: string;
}

/** Lines for a terminal. */
export function deadlockLines(deadlock: Deadlock, { theme, columns }: View): string[] {
  const sentences = sentencesOf(deadlock);
  const widest = Math.max(...sentences.map(({ who }) => displayWidth(who)));
  const aligned = sentences.map(
    ({ who, does }) => `${who}${" ".repeat(widest - displayWidth(who))}  ${does}`,
  );
  const isWide = aligned.every((line) => displayWidth(line) + INDENT.length <= columns);
  const lines = isWide
    ? aligned
    : sentences.flatMap(({ who, does }) => hanging(`${who} ${does}`, columns));
  const wayOut = hanging(`break it: ${breakers(deadlock).join("   or   ")}`, columns);
  return [theme.error("DEADLOCK"), ...[...lines, ...wayOut].map((line) => INDENT + line)];
}

const INDENT = "  ";

function hanging(text: string, columns: number): string[] {
  const [first = "", ...others] = wrapText(text, columns - 2 * INDENT.length);
  return [first, ...others.map((line) => INDENT + line)];
}

/** One line for a pipe. */
export function deadlockText(deadlock: Deadlock): string {
  const sentences = sentencesOf(deadlock).map(({ who, does }) => `${who} ${does}`);
  return `${sentences.join("; ")}; break it: ${breakers(deadlock).join(" or ")}`;
}

/** Commands to type, of which one is enough: a neighbour may have chosen the path. */
export function breakers(deadlock: Deadlock): string[] {
  const ways = waysOut(deadlock).map(
    ({ path, isByForce }) => `revoke ${isByForce ? "--force " : ""}${quoteWord(path)}`,
  );
  return ways.length > 0 ? ways : ["stop one of these programs"];
}

function sentencesOf(deadlock: Deadlock): Sentence[] {
  const waits = deadlock.map(({ waiter, path, blocker, isHolder }) => ({
    who: escapeName(nameParty(waiter)),
    does: `waits for ${escapeName(path)}, ${isHolder ? "held by" : "behind"} ${escapeName(nameParty(blocker))}`,
  }));
  // A program that waits inside the lock of another has a session of its own: without this line the
  // circle is not closed.
  const links = deadlock.flatMap(({ blocker }, index) => {
    const next = deadlock[(index + 1) % deadlock.length]?.waiter;
    if (!next || next.session === blocker.session) return [];
    const isInside = next.within?.includes(String(blocker.token)) ?? false;
    const relation = isInside ? "runs inside the lock of" : "runs under the same lock as";
    return [
      { who: escapeName(nameParty(next)), does: `${relation} ${escapeName(nameParty(blocker))}` },
    ];
  });
  return [...waits, ...links];
}
