/** Locks in words: what is waited for, what happened to a lock, and what to put into an environment. */

import type { Waiting } from "../recipes/locks/events.ts";
import type { Party } from "../recipes/locks/holder-record.ts";
import { nameParty } from "../recipes/locks/lock-recipe.ts";
import type { LeaderResult, LockProgress, LockProgressResult, StopReason } from "../results/locks.ts";
import { escapeName } from "./escape.ts";
import type { Rendered, View } from "./renderer.ts";
import { hexId, isoTime } from "./stat.ts";
import { strangersText } from "./strangers.ts";

/** On stderr: the command under the lock owns stdout. Ordinary steps only where they were asked for. */
export function textLockProgress(result: LockProgressResult, view: View): Rendered {
  const { progress } = result;
  const said = describe(result, view);
  const isOrdinary = ORDINARY.has(progress.event);
  const isShown = isOrdinary ? view.isVerbose : !view.isQuiet || SERIOUS.has(progress.event);
  const err = said !== undefined && isShown ? { err: `${escapeName(said)}\n` } : {};
  if (progress.event === "waiting")
    return { ...err, status: () => escapeName(waitingLine(progress, result, view.now())) };
  if (!ENDS_WAITING.has(progress.event)) return err;
  // Whoever has watched the wait sees how it ended; in a pipe nobody has.
  const isLastWord = progress.event === "acquired" && said !== undefined && !isShown;
  return { ...err, status: isLastWord ? escapeName(said) : null };
}

/** Steps of the recipe, as they should be. */
const ORDINARY: ReadonlySet<LockProgress["event"]> = new Set([
  "queued",
  "waiting",
  "predecessor-gone",
  "acquired",
  "outrun",
  "started",
  "child-exit",
  "released",
  "revoke-asked",
]);
/** Said even with -q. */
const SERIOUS: ReadonlySet<LockProgress["event"]> = new Set(["lost", "signal", "revoked", "strangers"]);
const ENDS_WAITING: ReadonlySet<LockProgress["event"]> = new Set(["acquired", "requeued", "lost", "revoked"]);

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  lost: "the lock cannot be proved to be held any longer",
  suspended: "no server answers",
  revoked: "the lock is wanted",
  impatient: "asked twice to end",
};

function describe(result: LockProgressResult, view: View): string | undefined {
  const { progress } = result;
  const { path } = progress;
  switch (progress.event) {
    case "queued":
      return `queued as ${progress.node}`;
    case "waiting":
      return `position ${progress.position} of ${progress.of}; ${waitingLine(progress, result, view.now())}`;
    case "predecessor-gone":
      return `gone: ${progress.ahead}`;
    case "acquired":
      return `acquired ${path} after ${age(progress.waitedMs)}, token ${progress.token}`;
    case "outrun":
      return `${path} was free, but another was faster`;
    case "strangers":
      return `warning: ${strangersText(path, progress.sorts)}`;
    case "negotiated":
      return `note: the server grants a session timeout of ${age(progress.grantedMs)}, not ${age(progress.wantedMs)}`;
    case "requeued":
      return `the session ended while waiting for ${path}; queuing again, at the end`;
    case "started":
      return `started process ${progress.pid}`;
    case "suspended":
      return `no server answers; ${path} is ours for ${age(progress.leftMs)} more`;
    case "resumed":
      return `connected again; ${path} is still ours`;
    case "paused":
      return `stopped while holding ${path}: it is ours for ${age(progress.leftMs)}, and then the command is killed`;
    case "revoke-asked":
      return undefined;
    case "revoked": {
      const { by = "somebody", reason } = progress.request;
      return `${by} asks for ${path}${reason === undefined ? "" : `: ${reason}`}`;
    }
    case "lost":
      return `lost ${path}: ${progress.reason === "node-deleted" ? "somebody deleted its znode" : "the session ended"}`;
    case "signal":
      return `sent ${progress.signal.replace("SIG", "")} to process ${progress.pid} and its group: ${STOP_REASONS[progress.why]}`;
    case "child-exit":
      return "code" in progress.end ? `ended with code ${progress.end.code}` : `ended by ${progress.end.killedBy}`;
    case "unrecorded":
      return `warning: could not write ${progress.file}: ${progress.why}`;
    case "leftovers":
      return `note: holding ${path} until what process ${progress.pid} has left behind has ended too`;
    case "released":
      return progress.how === "delete"
        ? `released ${path}`
        : `${path} could not be released: ZooKeeper releases it when the session expires`;
  }
}

/** `waiting for /l: held 3m12s by ann@web3 pid 4711 deploy.sh ("release 42"); 2nd of 3; gives up in 41s` */
function waitingLine({ path, holder, position, of }: Waiting, { givesUpAt }: LockProgressResult, now: number): string {
  const held = holder ? `held ${age(now - heldSince(holder))} by ${nameParty(holder)}` : "held";
  const place = `you are ${position === 1 ? "next" : ordinal(position)}${of > 1 ? ` of ${of}` : ""}`;
  const limit = givesUpAt === undefined ? "" : `; gives up in ${age(Math.max(0, givesUpAt - now))}`;
  return `waiting for ${path}: ${held}; ${place}${limit}`;
}

/** Since when somebody holds a lock; where it has not said so, since when it has queued. */
export function heldSince({ acquiredAt, queuedAt }: Party): number {
  return acquiredAt ?? queuedAt;
}

/** `850ms`, `12s`, `3m12s`, `5h03m`, `12d4h`. */
export function age(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = Math.floor(ms / 1_000);
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600), Math.floor(seconds / 60)];
  const two = (value: number) => String(value).padStart(2, "0");
  if (days > 0) return `${days}d${hours % 24}h`;
  if (hours > 0) return `${hours}h${two(minutes % 60)}m`;
  return minutes > 0 ? `${minutes}m${two(seconds % 60)}s` : `${seconds}s`;
}

function ordinal(position: number): string {
  const tens = position % 100;
  const suffix = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][position % 10] ?? "th");
  return `${position}${suffix}`;
}

/** Lines that a shell can take in with `eval`. */
export function assignments(environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment)
    .map(
      ([name, value]) => `${name}=${/^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}\n`,
    )
    .join("");
}

export function textLeader({ leader, isStream }: LeaderResult, { isTTY }: View): Rendered {
  if (!leader) return { out: isTTY ? "nobody leads\n" : isStream ? "-\n" : "" };
  const name = leader.note ?? nameParty(leader);
  return { out: isTTY ? `${escapeName(nameParty(leader))}, token ${leader.token}\n` : `${name}\n` };
}

/** One object an event; names with underscores, as other tools' events have them. */
export function jsonLockProgress({ progress, at, givesUpAt }: LockProgressResult): Record<string, unknown> {
  const { event, ...rest } = progress;
  const facts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, jsonFact(key, value)]));
  return {
    event: event.replaceAll("-", "_"),
    at: isoTime(at),
    ...facts,
    ...(event === "waiting" && givesUpAt !== undefined && { givesUpAt: isoTime(givesUpAt) }),
  };
}

function jsonFact(key: string, value: unknown): unknown {
  if (key === "holder") return jsonParty(value as Party);
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" && key.endsWith("Ms") ? Math.round(value) : value;
}

export function jsonParty({ session, token, queuedAt, acquiredAt, ...rest }: Party): Record<string, unknown> {
  return {
    ...rest,
    session: hexId(session),
    token: String(token),
    queuedAt: isoTime(queuedAt),
    ...(acquiredAt !== undefined && { acquiredAt: isoTime(acquiredAt) }),
  };
}
