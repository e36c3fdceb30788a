/** Opens a session and acquires the lock in it. */
import { setTimeout as pause } from "node:timers/promises";
import { ConnectionError, LockError, UsageError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { formatDuration } from "../../text/duration.ts";
import { awaitFreshLease } from "./await-fresh-lease.ts";
import { refuseEndedStdin } from "./hold.ts";
import type { Held } from "./lock-kind.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import { isHeldAround } from "./nested.ts";
import { acquireLimits } from "./options.ts";
import { lockOptions } from "./ticket-options.ts";

export interface Acquired {
  readonly held: Held;
  /** By performance.now(): --min-hold and --max-hold count from here. */
  readonly acquiredAt: number;
  readonly session: Session;
}

/** A command around this one holds the lock already (--reentrant). The session is closed. */
export interface HeldAround {
  readonly held: undefined;
  readonly session: Session;
}

/** A waiter that already queued keeps retrying while the servers restart. */
const RETRY_MS = 1_000;
const LEAVE_WITHIN_MS = 5_000;
const LEAVE_WITHOUT_SERVER_MS = 500;

/**
 * Queues until the lock is acquired. If the session expires, this process queues again in a new
 * session, at the end of the queue, and says so. The session is closed unless it is returned with a
 * lock.
 */
export async function queueUp(task: LockRun): Promise<Acquired | HeldAround> {
  const { context, recipe, values, begun, tell, story } = task;
  const { signal } = context;
  const isWatched = context.output.isFollowed || values.explain;
  // Checked before queuing: a cron job has no stdin, and would end with 0 without any lock.
  if (task.argv === undefined) refuseEndedStdin(task);
  for (let hasQueued = false; ; ) {
    const session = await context.shell.openSession({ timeoutMs: values.sessionTimeout });
    let isKept = false;
    try {
      await connect(session, task, !hasQueued);
      if (await isHeldAround(task, session)) return { held: undefined, session };
      const options = { ...lockOptions(context, values, commandName(task)), onEvent: tell };
      const limits = acquireLimits(values, { begun, isWatched, signal });
      const stopFollowing = story.follow(session);
      const held = await recipe.lock(session, options).acquire(limits).finally(stopFollowing);
      const acquired = { held, session, acquiredAt: performance.now() };
      await awaitFreshLease(task, acquired).catch((error: unknown) => {
        if (!held.signal.aborted) held.release().catch(() => {});
        throw error;
      });
      isKept = true;
      return acquired;
    } catch (error) {
      if (signal.aborted || session.isAlive() || !isEndOfSession(error)) throw error;
      if (session.id !== 0n) tell({ event: "requeued", path: pathOf(task) });
      else if (hasQueued)
        await pause(RETRY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      else throw error;
      hasQueued = true;
    } finally {
      if (!isKept) await leave(session);
    }
  }
}

/**
 * Closes the session, with a time limit: closing waits until the ticket is deleted, and without a
 * server that would take until the session expires. The server then deletes the ticket with the
 * session.
 */
async function leave(session: Session): Promise<void> {
  const withinMs = session.state === "connected" ? LEAVE_WITHIN_MS : LEAVE_WITHOUT_SERVER_MS;
  await Promise.race([session.close(), pause(withinMs, undefined, { ref: false })]);
}

/** Also true if the lock was held already: no program has run under it yet. */
function isEndOfSession(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof LockError && error.lostReason === "session-lost")
  );
}

async function connect(session: Session, task: LockRun, isFirst: boolean): Promise<void> {
  const { context, values, begun, tell } = task;
  const { sessionTimeout, wait, grace } = values;
  // A wait of 0 (-n) is a limit for the lock, not for the connection.
  const leftMs = wait ? Math.max(1, Math.round(wait - (performance.now() - begun))) : undefined;
  await session.connected({
    signal: context.signal,
    ...(leftMs !== undefined && { timeoutMs: leftMs }),
  });
  const { timeoutMs, isReadOnly } = session;
  if (isReadOnly)
    throw new ConnectionError("read-only", "the server is read-only and grants no locks");
  if (grace !== undefined && grace >= timeoutMs / 2) {
    throw new UsageError(
      `--grace ${formatDuration(grace)} is too long for a session timeout of ${formatDuration(timeoutMs)}`,
      {
        hint:
          "it must be less than half of the session timeout; --session-timeout requests a longer " +
          "one",
      },
    );
  }
  if (isFirst && sessionTimeout !== undefined && sessionTimeout !== timeoutMs) {
    tell({
      event: "negotiated",
      path: pathOf(task),
      wantedMs: sessionTimeout,
      grantedMs: timeoutMs,
    });
  }
}

/** The command without its arguments: they can hold secrets, and every client can read a ticket. */
function commandName({ argv }: LockRun): string | undefined {
  return argv?.[0].replace(/^.*\//s, "");
}
