/**
 * What `--explain` says of each step of a lock recipe. Written for readers who do not know
 * ZooKeeper's recipes.
 */
import type { LockEvent, Waiting } from "../recipes/locks/events.ts";
import type { LockMode } from "../recipes/locks/holder-record.ts";
import type { LockProgress, LockProgressResult, LockStep } from "../results/locks.ts";
import { nameWithReason } from "../text/party-name.ts";
import { age } from "./age.ts";
import { ticketName, ticketPath } from "./lock-names.ts";
import { acquiredText, goneText, isPathItself, queueText } from "./lock-steps.ts";

export interface Explanation {
  readonly number: number;
  /** Left out where zksh concludes something without asking. */
  readonly operation?: string;
  readonly answer: string;
  readonly why: string;
}

type Explained = Omit<Explanation, "number">;

/** The operation of a step, its answer, and why. */
export function explainStep(step: LockStep, result: LockProgressResult, now: number): Explained {
  const { progress, mode, ticket = "" } = result;
  switch (step) {
    case "ticket":
      return createTicket(ticket, result);
    case "queue":
      return progress.event === "waiting"
        ? waitInQueue(progress, ticket, now)
        : firstInQueue(ticket, mode);
    case "watching":
      return progress.event === "waiting" ? watchAhead(progress, now) : { answer: "", why: "" };
    case "gone":
      return gone(progress, ticket);
    case "acquired":
      return acquired(progress);
    case "lease":
      return createLease(nodeOf(progress), result);
    case "leases":
      return countLeases(progress);
    case "lease-back":
      return {
        operation: `delete ${ticketPath(nodeOf(progress))}`,
        answer: "deleted",
        why:
          "No permit is free. A lease that is not good is given back, because Curator counts " +
          "every lease; a waiter queues " +
          "with a ticket below locks instead.",
      };
    case "lease-kept":
      return {
        operation: `create -s -e ${withoutNumber(nodeOf(progress))}`,
        answer: ticketName(nodeOf(progress)),
        why:
          "We are first in the queue: only the first keeps a lease while it waits, and it is good " +
          "as soon as a lease before it goes.",
      };
    case "unique":
      return createUnique(progress, result);
    case "outrun":
      return {
        operation: `create -e ${progress.path}`,
        answer: "NodeExists",
        why:
          "The znode was gone, but another waiter was faster: without numbers the waiters have no " +
          "order.",
      };
    case "started":
      return {
        answer: progress.event === "started" ? `process ${progress.pid} runs under the lock` : "",
        why:
          "While it runs, zksh proves again and again that our znode is still there. When it " +
          "can no longer prove that, it stops " +
          "the command before ZooKeeper can give the lock to another client.",
      };
    case "released":
      return explainRelease(nodeOf(progress), mode, progress.path);
  }
}

function createTicket(
  node: string,
  { mode, explain, isOneOfSeveral }: LockProgressResult,
): Explained {
  const side = mode === "read" ? READ_TICKET : mode === "write" ? WRITE_TICKET : "";
  const all = isOneOfSeveral
    ? " The tickets of all paths are made in one transaction: all or none."
    : "";
  return {
    operation: `create -s -e ${withoutNumber(node)}`,
    answer: ticketName(node),
    why: `Our ticket. ${SEQUENTIAL} ${ephemeral(explain?.timeoutMs, WHAT[mode])}${side}${all}`,
  };
}

/** What a crash gives back. */
const WHAT: Readonly<Record<LockMode, string>> = {
  exclusive: "lock",
  read: "lock",
  write: "lock",
  semaphore: "place",
  leader: "lead",
};

const READ_TICKET = " READ in its name tells the others that a reader made it.";
const WRITE_TICKET = " WRIT in its name tells the others that a writer made it.";

const SEQUENTIAL =
  "Sequential (-s): the server appends the next number, so that the numbers are the order of " +
  "arrival.";

function ephemeral(timeoutMs = 0, what = "lock"): string {
  const timeout = `session timeout${timeoutMs > 0 ? ` (${age(timeoutMs)})` : ""}`;
  return `Ephemeral (-e): the server deletes it when our session ends. After a crash that is when the ${timeout} is over: a crash cannot keep the ${what}.`;
}

const RULES: Readonly<Record<LockMode, string>> = {
  exclusive: "The lowest number holds the lock.",
  read: "A reader waits only for earlier writers; readers share the lock.",
  write:
    "A writer must be alone: it waits for every earlier reader and writer. A reader waits only " +
    "for earlier writers.",
  semaphore:
    "Contenders that found no free permit queue here, and only the first of them may take the " +
    "next permit.",
  leader: "The lowest number leads.",
};

function firstInQueue(ticket: string, mode: LockMode): Explained {
  const none = mode === "read" ? "No writer is before ours" : "No number is lower than ours";
  return {
    operation: `ls ${parentOf(ticket)}`,
    answer: `${ticketName(ticket)} (ours)`,
    why: `${RULES[mode]} ${none}, and later tickets get higher numbers: none can come in before us.`,
  };
}

function waitInQueue(waiting: Waiting, ticket: string, now: number): Explained {
  const { holders, waiters, mode, position, path, holder, permits, inFront } = waiting;
  if (position === undefined) {
    return {
      operation: `get ${path}`,
      answer: holder ? nameWithReason(holder) : "its data may not be read",
      why: "The znode's data names the holder.",
    };
  }
  const named = permits ? waiters : [...holders, ...waiters];
  const names = named.map(({ node }) => ticketName(node));
  const more = (permits ? waiting.waiterCount : Math.max(inFront, names.length)) - names.length;
  const rest = more > 0 ? ` … ${more} more …` : "";
  return {
    operation: `ls ${parentOf(ticket)}`,
    answer: `${names.join(" ")}${rest} ${ticketName(ticket)} (ours)`.trim(),
    why: `${RULES[mode]} ${queueText(waiting, now)}.`,
  };
}

function watchAhead(waiting: Waiting, now: number): Explained {
  const { path, ahead, aheadBy, watches, mode, position, node } = waiting;
  if (watches === "leases") {
    return {
      operation: `ls -w ${parentOf(node)}`,
      answer: queueText(waiting, now),
      why:
        "A watch (-w) makes the server tell us of the next change. Only the first in the queue " +
        "watches the permits: one that is given back wakes one waiter.",
    };
  }
  const answer = aheadBy ? nameWithReason(aheadBy) : "watching";
  if (position === undefined) {
    return {
      operation: `get -w ${path}`,
      answer,
      why:
        "A watch (-w) makes the server tell us when the znode goes: released, or deleted with the " +
        "session of a holder that crashed. All waiters watch the same znode, are woken together, " +
        "and the fastest gets it.",
    };
  }
  const which =
    mode === "read"
      ? "Only the nearest writer before us is watched"
      : "Only the one right before us is watched";
  return {
    operation: `get -w ${ticketPath(`${mode === "semaphore" ? parentOf(node) : path}/${ahead}`)}`,
    answer,
    why: `A watch (-w) makes the server tell us when this znode goes. ${which}, so that one release wakes one waiter; with all of them watching the holder, each release would wake the whole queue.`,
  };
}

function gone(progress: LockProgress, ticket: string): Explained {
  if (progress.event !== "predecessor-gone" && progress.event !== "contender-gone")
    return { answer: "", why: "" };
  if (progress.event === "contender-gone") {
    return {
      operation: `ls ${parentOf(ticket)}`,
      answer: `without ${goneText(progress)}`,
      why:
        "It is not the one we watch, so this changes nothing for us yet. zksh lists the queue now " +
        "and then only to show it.",
    };
  }
  return {
    operation: "event NodeDeleted",
    answer: goneText(progress),
    why: isPathItself(progress)
      ? "The znode is gone: released, or its session has ended."
      : "The znode we watch is gone: its client released the lock or gave up, or it crashed and the server ended its session. For us it is the same: we look who is before us now.",
  };
}

function acquired(progress: LockProgress): Explained {
  if (progress.event !== "acquired") return { answer: "", why: "" };
  const { mode, hasWaited } = progress;
  const reason = hasWaited ? `${turnText(progress)} ` : "";
  const isShared = mode === "read" || mode === "semaphore";
  return {
    answer: acquiredText(progress),
    why: `${reason}The token is the zxid at which our znode was created.${isShared ? "" : ` ${TOKEN_GROWS}`}`,
  };
}

/** By what a waiter knows that its turn has come. */
function turnText({
  node,
  path,
  mode,
  permits,
}: Extract<LockEvent, { event: "acquired" }>): string {
  if (node === path) return "This time our create -e made the znode.";
  if (permits) return `Our lease is among the first ${permits.limit} now.`;
  return mode === "read"
    ? "No writer is left before ours."
    : "None of the tickets that we waited for is left.";
}

const TOKEN_GROWS =
  "It grows from holder to holder: a storage that has seen a higher token can refuse an earlier " +
  "holder.";

function createLease(node: string, { explain }: LockProgressResult): Explained {
  return {
    operation: `create -s -e ${withoutNumber(node)}`,
    answer: ticketName(node),
    why: `A permit is a lease, a znode below leases. ${SEQUENTIAL} ${ephemeral(explain?.timeoutMs, "permit")}`,
  };
}

function countLeases(progress: LockProgress): Explained {
  if (progress.event !== "acquired" && progress.event !== "no-permit")
    return { answer: "", why: "" };
  const { taken = 0, limit = 0 } = progress.permits ?? {};
  const isOurs = progress.event === "acquired";
  const rule = `Of all leases the first ${limit === 1 ? "one is" : `${limit} by number are`} good.`;
  return {
    operation: `ls ${parentOf(nodeOf(progress))}`,
    answer: `${taken} of ${limit} permits taken${isOurs ? ", ours among them" : ""}`,
    why: `${rule} ${isOurs ? "Ours is one of them." : taken < limit ? "But others queue, and come first." : "Ours is not."}`,
  };
}

function createUnique(progress: LockProgress, { explain }: LockProgressResult): Explained {
  const isOurs = progress.event === "acquired";
  return {
    operation: `create -e ${progress.path}`,
    answer: isOurs ? "created" : "NodeExists",
    why: `One well-known znode is the lock: the client that creates it holds it. ${ephemeral(explain?.timeoutMs)}${isOurs ? "" : " It exists, so another client holds the lock."}`,
  };
}

export function explainRelease(node: string, mode: LockMode, path: string): Explained {
  const wakes =
    node === path
      ? "All waiters watch this znode, and are woken together."
      : mode === "semaphore"
        ? "The first in the queue, which watches the permits, is woken; no other waiter is."
        : "The waiter right behind us watches this znode and is woken; no other is.";
  return { operation: `delete ${ticketPath(node)}`, answer: "deleted", why: `Released. ${wakes}` };
}

/** As it was asked for, before the server appended the number. */
function withoutNumber(node: string): string {
  return ticketPath(node).replace(/\d{10}$/, "");
}

function parentOf(node: string): string {
  return node.slice(0, node.lastIndexOf("/")) || "/";
}

function nodeOf(progress: LockProgress): string {
  return "node" in progress ? progress.node : progress.path;
}
