/** What watching finds out, and how it goes on when a session ends. */
import { setTimeout as pause } from "node:timers/promises";
import { ConnectionError } from "../../errors.ts";
import type { Session, Stat } from "../../session/session.ts";

export type WatchedChange =
  /** `current`: what there was when the watch began. */
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

/** What is said beside changes. `unreadable`: a znode that will not be reported, and why. */
export type Notice =
  | LostSession
  | { readonly event: "unreadable"; readonly path: string; readonly error: Error };

export interface LostSession {
  readonly event: "session-lost" | "session-replaced";
  readonly path: string;
}

/**
 * Something that is being watched. It remembers what it has told, over the end of a session too.
 */
export interface Follower<Told = WatchedChange | Notice> {
  readonly path: string;
  /**
   * Tells what is there, or what has changed since it told last, and then every change. Returns
   * when the session is lost.
   */
  follow(session: Session, signal: AbortSignal): AsyncGenerator<Told>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The session; a new one when the last was lost. */
  readonly session: () => Promise<Session>;
}

const PAUSE_MS = 1_000;

/**
 * Every change, session after session, until the signal is aborted. Throws what goes wrong before
 * the first is told.
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

/** Tries until a server accepts a session: whoever waits for changes has time. */
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
