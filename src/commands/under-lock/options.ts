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
    throw new UsageError(`bad choice '${text}'`, { hint: `one of ${choices.join(", ")}` });
  };
}

const exitCode: ValueParser<number> = (text) => {
  const code = /^\d{1,3}$/.test(text) ? Number(text) : 256;
  if (code <= 255) return code;
  throw new UsageError(`bad exit code '${text}'`, {
    hint: "an exit code is a number from 0 to 255",
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
  throw new UsageError(`bad signal '${text}'`, { hint: `one of ${SIGNALS.join(", ")}` });
};

/**
 * Where paths start at the root, a word without a slash in front is a command that lacks its `--`.
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

/** How long, and what is said meanwhile. */
export const waitOptions = {
  nonblock: flag("-n", "do not wait: exit code 75 when it is held"),
  wait: option("-w", "dur", duration, "wait at most this long: exit code 124"),
  explain: flag("", "explain each step, and name the ZooKeeper operation"),
} as const;

/** The ticket and its session, and what becomes of the program. */
export const guardOptions = explainedIn("locks", {
  conflictExitCode: option("-E", "code", exitCode, "the exit code instead of 75 and 124"),
  why: option("", "text", word, "what for, shown to those who wait"),
  acl: option("", "acl", acl, "the ACL of the ticket; contenders must be able to read it"),
  pathAcl: option(
    "",
    "acl",
    acl,
    "the ACL of the lock path and its parents where they are missing [--acl]",
  ),
  sessionTimeout: option("", "dur", timeout, "the session timeout to ask for"),
  grace: option("", "dur", duration, "between SIGTERM and SIGKILL [5s, at most 1/4 timeout]"),
  stopSignal: option("", "sig", signalName, "the first signal instead of TERM"),
  onSuspend: option(
    "",
    "what",
    oneOf("ignore", "stop", "term"),
    "when no server answers: ignore, stop (freeze), term",
  ),
  onLost: option(
    "",
    "what",
    oneOf("term", "kill", "warn"),
    "when it is lost: term, kill, warn [term; kill when the ticket is deleted]",
  ),
  onRevoke: option("", "what", oneOf("term", "ignore"), "when somebody asks for it: term, ignore"),
  minHold: option("", "dur", duration, "hold it at least this long"),
  group: option(
    "",
    "what",
    oneOf("auto", "own", "share"),
    "process group of the command: auto, own, share",
  ),
  statusFile: option(
    "",
    "file",
    word,
    "write how it ended there, and its steps, as JSON; a link is replaced, not followed",
  ),
  reentrant: flag("", "run at once where a command around this one holds the lock"),
});

export const compatOption = explainedIn("locks", {
  compat: option(
    "",
    "who",
    oneOf("curator", "all"),
    "lock, rwlock: with all, make a second ticket that stock kazoo respects",
  ),
});

/** What `help locks` explains. */
export const sharedOptions = { ...guardOptions, ...compatOption };

type Values<O> = {
  readonly [K in keyof O]: O[K] extends { kind: "flag" } ? boolean : ValueOf<O[K]> | undefined;
};
type ValueOf<O> = O extends { readonly parse: ValueParser<infer T> } ? T : never;

export type WaitValues = Values<typeof waitOptions>;
type GuardValues = Values<typeof guardOptions>;

export type LockValues = WaitValues &
  GuardValues & { readonly compat?: "curator" | "all" | undefined };

/** How old what is shown of a queue may be. */
const REFRESH_MS = 2_000;

/** The limits of one wait; `begun` by performance.now, because the time to connect counts too. */
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
