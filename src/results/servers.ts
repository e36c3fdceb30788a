/** What is said of the servers one by one. */
import type { ZkshError } from "../errors.ts";
import type { SessionLock } from "../recipes/locks/inspect/locks-of-session.ts";
import type { FoundEphemerals } from "../recipes/servers/find-ephemerals.ts";
import type { ServersTick } from "../recipes/servers/follow-servers.ts";
import type { Gap, ToldSession } from "../recipes/servers/told-sessions.ts";

/** The answer of one server to a four-letter word. */
export interface WordAnswerResult {
  readonly kind: "word-answer";
  readonly server: string;
  readonly word: string;
  readonly bytes: Buffer;
  readonly timeMs: number;
  /** Several servers were asked. */
  readonly isOneOfMany: boolean;
}

/** One server of several that did not answer, or refused; the others go on. */
interface ServerFailedResult {
  readonly kind: "server-failed";
  readonly server: string;
  readonly error: ZkshError;
}

/** One session: what it owns, and what the servers tell of its client. */
export interface SessionResult extends Omit<ToldSession, "ephemerals"> {
  readonly kind: "session";
  readonly isOwn: boolean;
  /** The session ends with this command. */
  readonly isShortLived: boolean;
  /** The address is the one that this end of the connection has. */
  readonly isLocalAddress?: boolean;
  readonly ephemerals: readonly string[];
  /** How many of its ephemerals are outside the chroot, which this session cannot name. */
  readonly outside: number;
  readonly locks: readonly SessionLock[];
  /** How many possible locks were not read. */
  readonly unreadLocks: number;
  readonly gaps: readonly Gap[];
  /** No server told the ephemerals: this search found them. */
  readonly search?: Omit<FoundEphemerals, "paths">;
}

/** All sessions that the servers tell. */
export interface SessionsResult {
  readonly kind: "sessions";
  readonly sessions: readonly ToldSession[];
  readonly gaps: readonly Gap[];
  /** The number of ephemerals of each session is known. */
  readonly hasEphemerals: boolean;
}

/** The figures of all servers, at one tick of `top`. */
export interface ServersTickResult extends ServersTick {
  readonly kind: "servers-tick";
  readonly everyMs: number;
}

export type ServerResult =
  | WordAnswerResult
  | ServerFailedResult
  | SessionResult
  | SessionsResult
  | ServersTickResult;
