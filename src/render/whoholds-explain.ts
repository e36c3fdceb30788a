/**
 * Why each contender of a queue holds or waits, step by step, with what to type to see it oneself.
 */

import type { LockReport, QueueMember } from "../recipes/locks/inspect/inspect-lock.ts";
import { type QueueRule, ruleOf } from "../recipes/locks/inspect/queue-rule.ts";
import { baseName, joinPath } from "../session/path.ts";
import { escapeName } from "../text/escape.ts";
import { nameParty } from "../text/party-name.ts";
import type { View } from "./renderer.ts";
import { wrapText } from "./wrap-text.ts";

interface Step {
  /** As one would type it. */
  readonly operation: string;
  readonly says: string;
}

export interface ContenderStep extends Step {
  readonly rule: QueueRule;
  /** The rule in words. */
  readonly because: string;
}

/** What each library's contender waits for: the tickets with a lower number that it looks at. */
const WAITS_FOR: Readonly<Record<QueueRule, string>> = {
  "zksh-lock":
    "a zksh lock waits for every earlier ticket of a lock, a reader or a writer, of any library",
  "zksh-write":
    "a zksh writer waits for every earlier ticket of a lock, a reader or a writer, of any library",
  "zksh-read":
    "a zksh reader waits for every earlier ticket of a lock or a writer, not for other readers",
  "zksh-latch": "a zksh candidate waits for every earlier latch- ticket: the lowest number leads",
  "curator-lock": "a Curator lock waits for earlier tickets whose names end in lock- and a number",
  "curator-write": "a Curator writer waits for earlier __READ__ and __WRIT__ tickets",
  "curator-read":
    "a Curator reader waits for earlier __WRIT__ tickets of other sessions, not for readers",
  "curator-latch": "a LeaderLatch waits for every earlier latch- ticket: the lowest number leads",
  "go-zookeeper-lock":
    "a go-zookeeper lock waits for every earlier ticket of a lock, a reader or a writer",
  "kazoo-lock": "a kazoo lock waits for earlier __lock__ tickets, and for no other library's",
  "kazoo-write": "a kazoo writer waits for earlier __lock__ and __rlock__ tickets",
  "kazoo-read": "a kazoo reader waits for earlier __lock__ tickets, not for other readers",
  writelock:
    "ZooKeeper's WriteLock waits for every earlier ticket that has a dash before its number",
  "textbook-lock": "by ZooKeeper's recipe a lock waits for earlier tickets of its own kind",
  "textbook-write": "by ZooKeeper's recipe a writer waits for earlier read- and write- tickets",
  "textbook-read":
    "by ZooKeeper's recipe a reader waits for earlier write- tickets, not for other readers",
  "semaphore-lease":
    "each permit is a child of leases, and the limit says how many of the earliest count",
  "semaphore-queue":
    "only the first in locks may ask for a permit, so that permits go out in order",
  "kazoo-lease": "each permit is a child of the path, and the limit says how many there may be",
  "kazoo-semaphore-queue": "only the first in the lock beside it may ask for a permit",
  unique: "the path itself is the holder's ephemeral znode: the first to create it has the lock",
};

/** The steps before the contenders: what to list. */
export function lookingSteps(report: LockReport): Step[] {
  const { path, exists, layouts, limit, holders, waiters } = report;
  const list = (folder: string, says: string): Step => ({ operation: `ls ${typed(folder)}`, says });
  if (!exists)
    return [
      {
        operation: `stat ${typed(path)}`,
        says: "the znode does not exist, so the lock is free",
      },
    ];
  if (holders.length + waiters.length === 0)
    return [list(path, "no tickets: the lock is free, and no contender waits")];
  const steps: Step[] = [];
  if (limit !== undefined)
    steps.push({ operation: `get ${typed(path)}`, says: `the limit: ${limit}` });
  const isSemaphore = layouts.includes("curator-semaphore");
  if (layouts.some((layout) => !["curator-semaphore", "plain"].includes(layout))) {
    const number = "sequential: the server numbers them in the order in which they came";
    steps.push(
      list(
        path,
        `the tickets: each contender creates one, ephemeral (it goes with its session) and ${number}`,
      ),
    );
  }
  if (isSemaphore)
    steps.push(list(joinPath(path, "leases"), "the permits that are taken or asked for"));
  if (isSemaphore)
    steps.push(list(joinPath(path, "locks"), "the queue of those that want a permit"));
  if (layouts.includes("kazoo-semaphore"))
    steps.push(list(`${path}-__lock__`, "the queue for permits"));
  return steps;
}

export function contenderStep(
  member: QueueMember,
  isHolder: boolean,
  report: LockReport,
): ContenderStep {
  const rule = ruleOf(member, report);
  const says = isHolder ? holds(rule, member, report) : waits(rule, member, report);
  const who = escapeName(nameParty(member));
  return {
    rule,
    operation: `get -s ${typed(member.node)}`,
    says: `${who} ${says}`,
    because: WAITS_FOR[rule],
  };
}

function holds(rule: QueueRule, { node, mode }: QueueMember, { limit }: LockReport): string {
  if (rule === "unique")
    return "holds it until it deletes the znode or its session (ephemeralOwner) ends";
  if (rule === "semaphore-lease" || rule === "kazoo-lease") {
    return `holds a permit: ${limit === undefined ? "no limit is written down" : `its lease is among the ${limit} that count`}`;
  }
  return `${mode === "leader" ? "leads" : "holds it"}: no ticket before ${ticketName(node)} is in its way`;
}

function waits(rule: QueueRule, { node, behind }: QueueMember, { limit }: LockReport): string {
  if (rule === "semaphore-lease") {
    return `waits for a permit${limit === undefined ? "" : `: its lease is not yet among the ${limit} that count`}`;
  }
  if (behind === undefined) return `waits in line with ${ticketName(node)}`;
  // Each library watches less than the whole queue; of zksh we know that it is this one ticket.
  const watches = rule.startsWith("zksh-") ? ", and watches only that one" : "";
  return `waits with ${ticketName(node)} for ${ticketName(behind)}, the nearest before it${watches}`;
}

/** The whole of it in one sentence. */
export function sentenceOf({ says, because }: ContenderStep): string {
  return `${says}; ${because}`;
}

/** Waiters of one queue follow the same few rules: on a terminal so many are enough. */
const MAX_WAITERS = 5;

/** Numbered, wrapped to the width. */
export function explainLines(report: LockReport, { columns, theme }: View): string[] {
  const { holders, waiters } = report;
  const shown = waiters.slice(0, MAX_WAITERS);
  const contenders = [
    ...holders.map((holder) => contenderStep(holder, true, report)),
    ...shown.map((waiter) => contenderStep(waiter, false, report)),
  ];
  // Most follow the same rule: it is told once.
  const told = new Set<QueueRule>();
  const steps = contenders.map((step) => {
    const says = told.has(step.rule) ? step.says : sentenceOf(step);
    told.add(step.rule);
    return { operation: step.operation, says };
  });
  const lines = [...lookingSteps(report), ...steps].flatMap(({ operation, says }, index) => {
    const number = `${index + 1}. `;
    const indent = " ".repeat(number.length);
    const width = columns - number.length;
    const typing = wrapText(operation, width).map(
      (line, at) => (at === 0 ? number : indent) + theme.step(line),
    );
    return [...typing, ...wrapText(`${says}.`, width).map((line) => indent + line)];
  });
  const more = waiters.length - shown.length;
  if (more > 0)
    lines.push(...wrapText(`… and ${more} more waiters; --json explains each of them`, columns));
  return lines;
}

/**
 * `…-lock-0000000007`: the number is what counts, the uuid before it only finds the ticket again.
 */
export function ticketName(node: string): string {
  return escapeName(baseName(node)).replace(/^(_c_)?[0-9a-f-]{32,36}(?=[-_])/, "…");
}

/** As a word of a command line. */
function typed(path: string): string {
  const name = escapeName(path);
  return /[\s'"\\;#$]/.test(name) ? `'${name.replaceAll("'", "'\\''")}'` : name;
}
