/**
 * Finds the rule by which a contender holds or waits: each library looks at its own kinds of
 * tickets. See arrange-queue.ts.
 */
import { baseName, joinPath, parentPath } from "../../../session/path.ts";
import { parseContender } from "../queue/contender.ts";
import type { LockReport, QueueMember } from "./inspect-lock.ts";

export type QueueRule =
  | "zksh-lock"
  | "zksh-write"
  | "zksh-read"
  | "zksh-latch"
  | "curator-lock"
  | "curator-write"
  | "curator-read"
  | "curator-latch"
  | "go-zookeeper-lock"
  | "kazoo-lock"
  | "kazoo-write"
  | "kazoo-read"
  | "writelock"
  | "textbook-lock"
  | "textbook-write"
  | "textbook-read"
  /** A permit in Curator's and zksh's layout: a child of `leases`. */
  | "semaphore-lease"
  /** A waiter for a permit, below `locks`. */
  | "semaphore-queue"
  | "kazoo-lease"
  | "kazoo-semaphore-queue"
  /** The path itself is the holder's znode. */
  | "unique";

export function ruleOf(
  { node, mode, client, isOurs }: QueueMember,
  { path }: LockReport,
): QueueRule {
  if (node === path) return "unique";
  const contender = parseContender(baseName(node));
  if (mode === "semaphore") {
    if (parentPath(node) === joinPath(path, "leases")) return "semaphore-lease";
    if (parentPath(node) === joinPath(path, "locks")) return "semaphore-queue";
    return contender ? "kazoo-semaphore-queue" : "kazoo-lease";
  }
  if (!contender) return "unique";
  const { claim, family } = contender;
  // A lease directly below the lock path: its library counts leases there in the same way.
  if (claim === "lease") return "semaphore-lease";
  if (claim === "latch") return isOurs ? "zksh-latch" : "curator-latch";
  if (isOurs) return `zksh-${claim}`;
  if (family === "writelock") return family;
  if (family === "kazoo")
    return mode === "write" ? "kazoo-write" : claim === "read" ? "kazoo-read" : "kazoo-lock";
  if (family === "curator" && claim === "lock" && client === "go-zookeeper")
    return "go-zookeeper-lock";
  return `${family}-${claim}`;
}
