/** The changes that a watch reports, and the retry with a new session when the session is lost. */
import { setTimeout as pause } from "node:timers/promises";
import { ConnectionError } from "../../errors.ts";
import type { Session, Stat } from "../../session/session.ts";

export type WatchedChange =
  /** `current`: the znode existed when the watch began. */
  | ({ readonly event: "current" | "created" | "changed"; readonly path: string } & Contents)
  | { readonly event: "absent" | "deleted"; readonly path: string }
  | ({ readonly event: "children"; readonly path: string } & Contents & ChildNames);

interface Contents {
  readonly data: Buffer | null;
  readonly stat: Stat;
}

interface ChildNames {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Notices between the changes. `unreadable`: a znode that cannot be reported, with the reason. */
export type Notice =
  | LostSession
  | { readonly event: "unreadable"; readonly path: string; readonly error: Error };

export interface LostSession {
  readonly event: "session-lost" | "session-replaced";
  readonly path: string;
}

/** Follows one watched thing. It remembers what it has yielded, also when the session changes. */
export interface Follower<Told = WatchedChange | Notice> {
  readonly path: string;
  /**
   * Yields the present state, or the changes since the last call, and then each change. Returns if
   * the session is lost.
   */
  follow(session: Session, signal: AbortSignal): AsyncGenerator<Told>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Returns the session, or opens a new one if the last one was lost. */
  readonly session: () => Promise<Session>;
}

const PAUSE_MS = 1_000;

/**
 * Yields every change, with a new session after each lost one, until the signal is aborted. Throws
 * if it fails before the first change.
 */
export async function* followForever<Told>(
  follower: Follower<Told>,
  { signal, session: open }: FollowOptions,
): AsyncGenerator<Told | LostSession> {
  const { path } = follower;
  let session = await open();
  for (let hasBegun = false; ; ) {
    try {
      for await (const change of follower.follow(session, signal)) {
        hasBegun = true;
        yield change;
      }
    } catch (error) {
      if (!hasBegun || !(error instanceof ConnectionError)) throw error;
    }
    yield { event: "session-lost", path };
    session = await openAgain(open, signal);
    yield { event: "session-replaced", path };
  }
}

/** Retries without a limit: a watch outlasts an outage of any length. */
async function openAgain(open: () => Promise<Session>, signal: AbortSignal): Promise<Session> {
  for (;;) {
    try {
      const session = await open();
      await session.connected({ signal });
      return session;
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
    await pause(PAUSE_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
