/** The options that lock, rwlock, sem and elect share. */

import { UsageError } from "../../errors.ts";
import type { AcquireOptions } from "../../recipes/locks/queue/queue-lock.ts";
import { isTimeout, parseDuration, TIMEOUT_RANGE } from "../../text/duration.ts";
import {
  acl,
  duration,
  explainedIn,
  flag,
  option,
  type ValueParser,
  word,
  znodePath,
} from "../arguments.ts";

function oneOf<const T extends string>(...choices: readonly T[]): ValueParser<T> {
  return (text) => {
    const choice = choices.find((known) => known === text);
    if (choice !== undefined) return choice;
    throw new UsageError(`bad value '${text}'`, { hint: `use one of ${choices.join(", ")}` });
  };
}

export const exitCode: ValueParser<number> = (text) => {
  const code = /^\d{1,3}$/.test(text) ? Number(text) : 256;
  if (code <= 255) return code;
  throw new UsageError(`bad exit code '${text}'`, {
    hint: "use a number from 0 to 255",
  });
};

const timeout: ValueParser<number> = (text) => {
  const ms = parseDuration(text);
  if (isTimeout(ms)) return ms;
  throw new UsageError(`bad duration '${text}'`, { hint: TIMEOUT_RANGE });
};

const SIGNALS: readonly string[] = ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "KILL"];

const signalName: ValueParser<NodeJS.Signals> = (text) => {
  const name = text.toUpperCase().replace(/^SIG/, "");
  if (SIGNALS.includes(name)) return `SIG${name}` as NodeJS.Signals;
  throw new UsageError(`bad signal '${text}'`, { hint: `use one of ${SIGNALS.join(", ")}` });
};

/**
 * The path of a lock. With / as the working znode a word without a leading slash is refused: it is
 * probably the command, and the `--` before it is missing.
 */
export const lockPath: ValueParser<string> = (text, where) => {
  if (where.cwd === "/" && !text.startsWith("/")) {
    throw new UsageError(
      `'${text}' is not a lock path (paths start with /); put the command after --: lock /x -- ${text}`,
    );
  }
  const path = znodePath(text, where);
  if (path !== "/") return path;
  throw new UsageError("/ cannot be locked", {
    hint: "choose another path, for example /locks/deploy",
  });
};

/** The options about waiting. */
export const waitOptions = {
  nonblock: flag("-n", "do not wait: end with exit code 75 if it is held"),
  wait: option("-w", "dur", duration, "wait at most this long, then end with exit code 124"),
  explain: flag("", "explain each step, and name the ZooKeeper operation"),
} as const;

/** The options about the ticket, its session and the program. */
export const guardOptions = explainedIn("locks", {
  conflictExitCode: option("-E", "code", exitCode, "end with this code instead of 75 and 124"),
  why: option("", "text", word, "tell the waiters why the lock is taken"),
  acl: option("", "acl", acl, "the ACL of the ticket; other contenders need the r permission"),
  pathAcl: option(
    "",
    "acl",
    acl,
    "the ACL of the lock path and its parents when created (default: --acl)",
  ),
  sessionTimeout: option("", "dur", timeout, "request this session timeout"),
  grace: option(
    "",
    "dur",
    duration,
    "time between SIGTERM and SIGKILL (default 5s, at most 1/4 of the session timeout)",
  ),
  stopSignal: option("", "sig", signalName, "send this signal first, instead of TERM"),
  onSuspend: option(
    "",
    "what",
    oneOf("ignore", "stop", "term"),
    "when no server answers: ignore (default), stop (freeze the command) or term",
  ),
  onLost: option(
    "",
    "what",
    oneOf("term", "kill", "warn"),
    "when the lock is lost: term, kill or warn (default: term; kill if the ticket was deleted)",
  ),
  onRevoke: option(
    "",
    "what",
    oneOf("term", "ignore"),
    "when the lock is revoked: term (default) or ignore",
  ),
  minHold: option("", "dur", duration, "hold the lock at least this long"),
  maxHold: option("", "dur", duration, "hold it at most this long, then end with exit code 122"),
  group: option(
    "",
    "what",
    oneOf("auto", "own", "share"),
    "process group of the command: auto (default), own or share",
  ),
  statusFile: option(
    "",
    "file",
    word,
    "write the outcome and the steps to this file as JSON; a link is replaced, not followed",
  ),
  reentrant: flag("", "run at once if a command around this one holds the lock"),
});

export const compatOption = explainedIn("locks", {
  compat: option(
    "",
    "who",
    oneOf("curator", "all"),
    "lock, rwlock: with all, create a second ticket that stock kazoo respects (default: curator)",
  ),
});

/** The options that `help locks` explains. */
export const sharedOptions = { ...guardOptions, ...compatOption };

type Values<O> = {
  readonly [K in keyof O]: O[K] extends { kind: "flag" } ? boolean : ValueOf<O[K]> | undefined;
};
type ValueOf<O> = O extends { readonly parse: ValueParser<infer T> } ? T : never;

export type WaitValues = Values<typeof waitOptions>;
export type GuardValues = Values<typeof guardOptions>;

export type LockValues = WaitValues &
  GuardValues & { readonly compat?: "curator" | "all" | undefined };

/** The maximum age of the queue position that is shown. */
const REFRESH_MS = 2_000;

/** Returns the limits of one wait. The time to connect counts: `begun` is by performance.now. */
export function acquireLimits(
  { nonblock, wait }: WaitValues,
  {
    begun,
    isWatched,
    signal,
  }: { readonly begun: number; readonly isWatched: boolean; readonly signal: AbortSignal },
): AcquireOptions {
  const waitMs =
    nonblock || wait === 0
      ? 0
      : wait && Math.max(1, Math.round(wait - (performance.now() - begun)));
  return {
    signal,
    ...(waitMs !== undefined && { waitMs }),
    ...(isWatched && { refreshMs: REFRESH_MS }),
  };
}
