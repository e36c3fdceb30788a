/**
 * The steps of a lock's recipe in a line each, and the line that is repainted while a lock is
 * waited for.
 */

import type { Contending, LockEvent, Waiting } from "../recipes/locks/events.ts";
import type { LockProgressResult, LockStep } from "../results/locks.ts";
import { escapeName } from "../text/escape.ts";
import { namesOf, nameWithReason, shortName } from "../text/party-name.ts";
import { age } from "./age.ts";
import { listed, lockName, ticketName } from "./lock-names.ts";
import type { StepsView } from "./renderer.ts";
import { wrapText } from "./wrap-text.ts";

const LABEL_WIDTH = 10;
const INDENT = 2;

/** A label and its text, wrapped below each other where the terminal is narrow. */
function stepLine(label: string, text: string, { isTTY, columns, theme }: StepsView): string {
  const indent = " ".repeat(INDENT + LABEL_WIDTH);
  const escaped = escapeName(text);
  const lines = isTTY ? wrapText(escaped, columns - indent.length) : [escaped];
  const [first = "", ...others] = lines;
  const begin = `${" ".repeat(INDENT)}${theme.step(label.padEnd(LABEL_WIDTH))}${first}`;
  return [begin, ...others.map((line) => indent + line), ""].join("\n");
}

/** `✔ acquired /deploy after 31s, token 115`; the mark only where it is looked at. */
export function successLine(text: string, { isTTY, columns, theme }: StepsView): string {
  const escaped = escapeName(text);
  if (!isTTY) return `${escaped}\n`;
  const [first = "", ...others] = wrapText(escaped, columns - INDENT);
  return [
    `${theme.good("✔")} ${first}`,
    ...others.map((line) => " ".repeat(INDENT) + line),
    "",
  ].join("\n");
}

/** The lines of the steps that an event tells of. */
export function stepLines(result: LockProgressResult, view: StepsView, now: number): string {
  const { progress, steps, isOneOfSeveral } = result;
  if (progress.event === "acquired") return successLine(acquiredText(progress), view);
  const at = isOneOfSeveral ? ` of ${progress.path}` : "";
  const line = (label: string, text: string) => stepLine(label, text, view);
  if (progress.event === "gave-way")
    return line("released", `${progress.path}: another waits for it; taken again later`);
  if (progress.event === "outrun")
    return line("outrun", `${progress.path} was free, but another was faster`);
  if (progress.event === "predecessor-gone" || progress.event === "contender-gone") {
    return line("gone", goneText(progress) + at);
  }
  if (progress.event !== "waiting") return "";
  const texts: Partial<Record<LockStep, string>> = {
    ticket: `${ticketName(result.ticket ?? progress.node)}${at} created (ephemeral, sequential)`,
    queue: queueText(progress, now),
    watching: watchingText(progress),
  };
  const told = steps.length > 0 ? steps : view.isTTY ? [] : (["queue"] as const);
  return told.map((step) => (texts[step] === undefined ? "" : line(step, texts[step]))).join("");
}

export function acquiredText(progress: Extract<LockEvent, { event: "acquired" }>): string {
  const { path, mode, waitedMs, hasWaited, token, permits, node } = progress;
  const what = mode === "leader" ? `leading ${path}` : `acquired ${lockName(path, mode)}`;
  const taken = permits ? `, ${permits.taken} of ${permits.limit} taken` : "";
  if (hasWaited) return `${what} after ${age(waitedMs)}${taken}, token ${token}`;
  // A lock on one znode has no ticket and no queue.
  if (node === path) return `${what}: it was free, token ${token}`;
  const free = permits ? "" : mode === "read" ? ", no writer ahead" : ", nobody ahead";
  return `${what}: ${ticketName(node)}${taken}${free}, token ${token}`;
}

type GoneEvent = Extract<LockEvent, { event: "contender-gone" | "predecessor-gone" }>;

/** A lock on one well-known znode has no tickets: the znode itself is deleted. */
export function isPathItself({ path, ahead }: Pick<GoneEvent, "path" | "ahead">): boolean {
  return ahead === path.slice(1);
}

export function goneText(gone: GoneEvent): string {
  const { path, ahead, aheadBy, heldMs } = gone;
  const what = isPathItself(gone) ? path : ticketName(ahead);
  if (!aheadBy) return what;
  return `${what} (${shortName(aheadBy)}${heldMs === undefined ? "" : `, held ${age(heldMs)}`})`;
}

const HOLDS = {
  exclusive: "holds it",
  read: "reads",
  write: "writes",
  semaphore: "has a permit",
  leader: "leads",
} as const;

/** `2 ahead: ann@web3 holds it since 12s, bob@web1 waits` */
export function queueText(waiting: Waiting, now: number): string {
  const { mode, position, holders, holderCount, waiters, waiterCount, inFront, permits } = waiting;
  const name = namesOf([...holders, ...waiters]);
  const holding = (holder: Contending) =>
    `${name(holder)} ${HOLDS[holder.mode]}${since(holder, now)}`;
  if (permits) {
    const names = holders.map((holder) => `${name(holder)}${since(holder, now)}`);
    const taken = `${permits.taken} of ${permits.limit} permits taken${names.length > 0 ? `: ${listed(names, holderCount)}` : ""}`;
    const queue = waiterCount === 0 ? "you are next" : `${waiterCount} ahead: ${waits(waiting)}`;
    return `${taken}; ${queue}`;
  }
  if (position === undefined) {
    const held = holders.map(holding).join(", ") || "held";
    return `${held}; a release wakes all waiters, and the fastest gets it`;
  }
  const blocking = mode === "read" ? holders.filter((holder) => holder.mode !== "read") : holders;
  const reading = holders.filter((holder) => !blocking.includes(holder)).map(holding);
  const parts = [...blocking.map(holding), ...(waiters.length > 0 ? [waits(waiting)] : [])];
  const unnamed = inFront - blocking.length - (waiters.length > 0 ? waiterCount : 0);
  if (unnamed > 0) parts.push(`${unnamed} ${unnamed === 1 ? "other" : "others"}`);
  const beside = reading.length > 0 ? ` (${reading.join(", ")})` : "";
  const next = position === 1 ? "; you are next" : "";
  return `${inFront} ahead: ${parts.join(", ")}${beside}${next}`;
}

/** `bob@web1 waits`, `bob@web1 and 2 others wait`, `bob@web1 waits to write`. */
function waits({ holders, waiters, waiterCount }: Waiting): string {
  const name = namesOf([...holders, ...waiters]);
  const [first] = waiters;
  const modes = new Set(waiters.map(({ mode }) => mode));
  const isShared = first !== undefined && (first.mode === "read" || first.mode === "write");
  if (isShared && modes.size > 1)
    return waiters.map((waiter) => `${name(waiter)} waits to ${waiter.mode}`).join(", ");
  const purpose = isShared ? ` to ${first.mode}` : "";
  return `${listed(waiters.map(name), waiterCount)} ${waiterCount === 1 ? "waits" : "wait"}${purpose}`;
}

/** Left out where it cannot be told: other libraries do not write down since when they hold. */
function since({ acquiredAt }: Contending, now: number): string {
  return acquiredAt === undefined ? "" : ` since ${age(now - acquiredAt)}`;
}

function watchingText({ ahead, aheadBy, watches, mode, position, path }: Waiting): string {
  if (watches === "leases") return "the permits: the next one given back is ours";
  const by = aheadBy ? ` (${shortName(aheadBy)})` : "";
  if (position === undefined) return `${path} itself${by}`;
  if (mode !== "read") return `${ticketName(ahead)}, the one right before${by}`;
  const kind = aheadBy?.mode === "exclusive" ? "lock" : "writer";
  return `${ticketName(ahead)}, the nearest ${kind} before${by}`;
}

const PURPOSES = {
  exclusive: "for",
  read: "to read",
  write: "to write",
  semaphore: "for a permit of",
  leader: "to lead",
} as const;

/**
 * `waiting 16s for /deploy: held 28s by ann@web3 pid 4711 deploy.sh "release 42"; 2 ahead; gives up
 * in 44s`
 */
export function waitingLine(waiting: Waiting, result: LockProgressResult, now: number): string {
  const { givesUpAt, since: begun } = result;
  const limit = givesUpAt === undefined ? "" : `; gives up in ${age(Math.max(0, givesUpAt - now))}`;
  const begin = `waiting ${age(now - begun)} ${PURPOSES[waiting.mode]} ${waiting.path}`;
  return `${begin}: ${heldText(waiting, now)}; ${placeText(waiting)}${limit}`;
}

function heldText({ holders, holderCount, permits }: Waiting, now: number): string {
  const [first] = holders;
  if (permits) {
    const by = first ? ` by ${listed(holders.map(namesOf(holders)), holderCount)}` : "";
    return `${permits.taken} of ${permits.limit} taken${by}`;
  }
  const isRead = first?.mode === "read";
  if (!first) return holderCount > 1 ? `held by ${holderCount}` : "held";
  const held = first.mode === "leader" ? "led" : "held";
  if (holderCount > 1)
    return `${held} by ${isRead ? "readers " : ""}${listed(holders.map(namesOf(holders)), holderCount)}`;
  const side = isRead ? "reader " : first.mode === "write" ? "writer " : "";
  const time = first.acquiredAt === undefined ? "" : ` ${age(now - first.acquiredAt)}`;
  return `${held}${time} by ${side}${nameWithReason(first)}`;
}

function placeText({ position, of = 1, inFront, permits, waiterCount }: Waiting): string {
  if (position === undefined) return "the fastest waiter gets it next";
  if (position > 1) return `${permits ? waiterCount : inFront} ahead`;
  return `you are next${of > 1 ? ` (${of - 1} more behind you)` : ""}`;
}
