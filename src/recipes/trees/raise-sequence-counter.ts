import { randomUUID } from "node:crypto";
import { ConflictError, NoNodeError } from "../../errors.ts";
import { nextSequence } from "../../session/node-kind.ts";
import { joinPath } from "../../session/path.ts";
import type { MultiOp, Session } from "../../session/session.ts";
import { mayHaveBeenDone } from "./tree-failures.ts";

/** A transaction holds so many pairs of create and delete. */
const PAIRS_PER_TRANSACTION = 400;
const TRANSACTIONS_UNDER_WAY = 8;
const ATTEMPTS = 5;

/**
 * Raises the number that the next sequential child of a znode gets to `next`, by creating and
 * deleting a child as often as it takes. Each transaction is atomic, so no child is left behind.
 * Throws ConflictError when the counter is beyond `next` already: ZooKeeper never lowers it.
 */
export async function raiseSequenceCounter(
  session: Session,
  path: string,
  next: number,
  signal: AbortSignal,
): Promise<void> {
  const pair = counterPair(path);
  for (let attempt = 1; ; attempt++) {
    const stat = await session.exists(path, { signal });
    if (!stat) throw new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { path });
    const missing = next - nextSequence(stat);
    if (missing === 0) return;
    if (missing < 0 || attempt > ATTEMPTS) {
      throw new ConflictError(
        "counter",
        `the sequence counter of ${path} is ${nextSequence(stat)}, not ${next}`,
        { path },
      );
    }
    await sendPairs(session, pair, missing, signal);
  }
}

/** Raises the counter by one when both are carried out. */
export function counterPair(path: string): readonly MultiOp[] {
  const child = joinPath(path, `_zksh-counter-${randomUUID()}`);
  return [
    { op: "create", path: child },
    { op: "delete", path: child },
  ];
}

async function sendPairs(
  session: Session,
  pair: readonly MultiOp[],
  count: number,
  signal: AbortSignal,
): Promise<void> {
  for (let left = count; left > 0; ) {
    const transactions: Promise<unknown>[] = [];
    while (left > 0 && transactions.length < TRANSACTIONS_UNDER_WAY) {
      const pairs = Math.min(left, PAIRS_PER_TRANSACTION);
      left -= pairs;
      const ops = Array.from({ length: pairs }, () => pair).flat();
      transactions.push(session.multi(ops, { signal }));
    }
    for (const outcome of await Promise.allSettled(transactions)) {
      // A lost answer: the caller reads the counter and goes on from there.
      if (outcome.status === "rejected" && !mayHaveBeenDone(outcome.reason)) throw outcome.reason;
    }
  }
}
