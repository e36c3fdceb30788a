/** From no session to a lock that is held. */
import { setTimeout as pause } from "node:timers/promises";
import { ConnectionError, LockError, UsageError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { awaitFreshLease } from "./await-fresh-lease.ts";
import { refuseEndedStdin } from "./hold.ts";
import type { Held } from "./lock-kind.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import { isHeldAround } from "./nested.ts";
import { acquireLimits } from "./options.ts";
import { lockOptions } from "./ticket-options.ts";

export interface Acquired {
  readonly held: Held;
  readonly session: Session;
}

/** A command around this one holds it, and that is enough. The session is closed. */
export interface HeldAround {
  readonly held: undefined;
  readonly session: Session;
}

/** Whoever has waited for an hour waits for a server that is being restarted, too. */
const LOOK_AGAIN_MS = 1_000;
const LEAVE_WITHIN_MS = 5_000;
const LEAVE_WITHOUT_SERVER_MS = 500;

/**
 * Queues, over the end of sessions too: the place is then a new one, and said so. The session is
 * closed unless it is returned with a lock.
 */
export async function queueUp(task: LockRun): Promise<Acquired | HeldAround> {
  const { context, recipe, values, begun, tell, story } = task;
  const { signal } = context;
  const isWatched = context.isFollowed || values.explain;
  // Before anything is queued: cron's jobs have no stdin, and would lock nothing, with exit code 0.
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
      const held = await recipe.acquire(session, options, limits).finally(stopFollowing);
      await awaitFreshLease(task, { held, session }).catch((error: unknown) => {
        if (!held.signal.aborted) held.release().catch(() => {});
        throw error;
      });
      isKept = true;
      return { held, session };
    } catch (error) {
      if (signal.aborted || session.isAlive() || !isEndOfSession(error)) throw error;
      if (session.id !== 0n) tell({ event: "requeued", path: pathOf(task) });
      else if (hasQueued)
        await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      else throw error;
      hasQueued = true;
    } finally {
      if (!isKept) await leave(session);
    }
  }
}

/**
 * Closing waits for the delete of our ticket, and without a server that is the rest of the session:
 * a waiter that is interrupted then ends at once, and the ticket goes with the session.
 */
async function leave(session: Session): Promise<void> {
  const withinMs = session.state === "connected" ? LEAVE_WITHIN_MS : LEAVE_WITHOUT_SERVER_MS;
  await Promise.race([session.close(), pause(withinMs, undefined, { ref: false })]);
}

/** Also of one in which the lock was held already: nothing has been run under it. */
function isEndOfSession(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof LockError && error.lostReason === "session-lost")
  );
}

async function connect(session: Session, task: LockRun, isFirst: boolean): Promise<void> {
  const { context, values, begun, tell } = task;
  const { sessionTimeout, wait, grace } = values;
  // 0 is -n: not to wait for the lock, but for the server all the same.
  const leftMs = wait ? Math.max(1, Math.round(wait - (performance.now() - begun))) : undefined;
  await session.connected({
    signal: context.signal,
    ...(leftMs !== undefined && { timeoutMs: leftMs }),
  });
  const { timeoutMs, isReadOnly } = session;
  if (isReadOnly)
    throw new ConnectionError("read-only", "the server is read-only: no lock can be had there");
  if (grace !== undefined && grace >= timeoutMs / 2) {
    throw new UsageError(
      `a grace of ${grace} ms is too long for a session timeout of ${timeoutMs} ms`,
      {
        hint: "it has to be less than half of it; --session-timeout asks for a longer one",
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

/** Without its arguments: they may hold secrets, and tickets can be read by everybody. */
function commandName({ argv }: LockRun): string | undefined {
  return argv?.[0].replace(/^.*\//s, "");
}
