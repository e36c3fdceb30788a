/**
 * What happens to a lock that is sought or held, on stderr: the command under the lock owns stdout.
 */

import type { Removed } from "../recipes/locks/queue/remove-znodes.ts";
import type { LockProgress, LockProgressResult, StopReason } from "../results/locks.ts";
import { escapeName } from "../text/escape.ts";
import { age } from "./age.ts";
import { incompatibleTicketsText } from "./incompatible-tickets.ts";
import { explainedLines } from "./lock-explain.ts";
import { stepLines, waitingLine } from "./lock-steps.ts";
import type { Rendered, Status, StepsView, View } from "./renderer.ts";
import { wrapText } from "./wrap-text.ts";

export function textLockProgress(result: LockProgressResult, view: View): Rendered {
  const steps = stepsView(view);
  const status = statusOf(result, steps, view);
  const err = textOf(result, steps, view);
  return { ...(err !== "" && { err }), ...(status !== undefined && { status }) };
}

/** Where the steps are written to. */
export function stepsView({ steps, isTTY, columns, theme }: View): StepsView {
  return steps ?? { isTTY, columns, theme };
}

/** Steps are told on a terminal, and in a pipe with -v. */
export function tellsSteps(view: View): boolean {
  return Boolean(view.isVerbose) || (stepsView(view).isTTY && !view.isQuiet);
}

function textOf(result: LockProgressResult, steps: StepsView, view: View): string {
  const { progress, explain, isHeldOpen } = result;
  const { event } = progress;
  if (explain) {
    const explained = explainedLines(result, steps, view.now());
    if (explained !== "" || STEPS.has(event)) return explained;
  }
  if (STEPS.has(event)) {
    // On a terminal one line says that it is held, how to release it, and its token.
    if (!tellsSteps(view) || (event === "acquired" && isHeldOpen && view.isTTY && !view.isVerbose))
      return "";
    return stepLines(result, steps, view.now());
  }
  const said = noteText(result);
  if (said === undefined) return "";
  const isShown = DETAILS.has(event) ? view.isVerbose : !view.isQuiet || SERIOUS.has(event);
  return isShown ? noteLines(said, steps) : "";
}

/** Broken between words on a terminal; paths stay whole, so that they can be copied. */
function noteLines(said: string, { isTTY, columns, theme }: StepsView): string {
  const escaped = escapeName(said);
  const lines = isTTY ? wrapText(escaped, columns, { keepsWords: true }) : [escaped];
  return `${lines.join("\n")}\n`.replace(/^warning:/, theme.warning("warning:"));
}

function statusOf(result: LockProgressResult, steps: StepsView, view: View): Status | undefined {
  const { progress, at } = result;
  const line = (text: () => string) => () =>
    wrapText(escapeName(text()), steps.columns - 2).join("\n  ");
  switch (progress.event) {
    case "waiting":
      return line(() => waitingLine(progress, result, view.now()));
    case "answered":
      return line(() => waitingLine(progress.waiting, result, view.now()));
    case "unanswered":
      return line(() => {
        const goneMs = view.now() - at;
        const keptMs = Math.max(0, progress.leftMs - goneMs);
        const what = result.isUnordered ? "the session lives" : "the place in the queue is kept";
        return `no server has answered for ${age(goneMs)}; ${what} for ${age(keptMs)} more`;
      });
    case "requeued":
      return () => `connecting again, to wait for ${escapeName(progress.path)}`;
    case "acquired":
    case "lost":
    case "revoked":
      return null;
    default:
      return undefined;
  }
}

/** Steps of the recipe, as they should be. */
const STEPS: ReadonlySet<LockProgress["event"]> = new Set([
  "queued",
  "waiting",
  "predecessor-gone",
  "contender-gone",
  "no-permit",
  "leased",
  "acquired",
  "outrun",
  "gave-way",
]);
/** Told with -v only. */
const DETAILS: ReadonlySet<LockProgress["event"]> = new Set([
  "started",
  "child-exit",
  "released",
  "revoke-asked",
]);
/** Said even with -q. */
function lossText({ reason, isRefused }: Extract<LockProgress, { event: "lost" }>): string {
  if (reason === "node-deleted") return "another client deleted its znode";
  return isRefused
    ? "the session could not log in again on a reconnect, which ended it"
    : "the session ended";
}

const SERIOUS: ReadonlySet<LockProgress["event"]> = new Set([
  "lost",
  "signal",
  "revoked",
  "max-hold",
  "strangers",
  "short-reach",
  "unguarded",
]);

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  lost: "the lock can no longer be proved (no answer from ZooKeeper)",
  deleted: "its ticket was deleted",
  suspended: "no server answers",
  revoked: "another client asked for the lock",
  "max-hold": "the lock was held for the whole --max-hold",
  impatient: "a second signal to end",
  unguarded: "the watchdog is gone, and would not stop it if zksh were killed or frozen",
};

const REACHES: Readonly<Record<"group" | "program", string>> = {
  group: "only the process group of the command can be stopped",
  program: "only the command itself can be stopped, not what it starts",
};

/** Events that are not steps of the recipe. */
function noteText({ progress, isUnordered }: LockProgressResult): string | undefined {
  const { path } = progress;
  switch (progress.event) {
    case "strangers":
      return `warning: ${incompatibleTicketsText(path, progress.sorts)}`;
    case "negotiated":
      return `note: the server grants a session timeout of ${age(progress.grantedMs)}, not ${age(progress.wantedMs)}`;
    case "unanswered":
      return `no server answers; ${isUnordered ? "the session lives" : `the place in the queue of ${path} is kept`} for ${age(progress.leftMs)} more`;
    case "answered":
      return `connected again; ${isUnordered ? `still waiting for ${path}` : `the place in the queue of ${path} was kept`}`;
    case "requeued":
      return `the session ended while waiting for ${path}; ${isUnordered ? "waiting again" : "queuing again, at the end"}`;
    case "started":
      return `started process ${progress.pid}`;
    case "suspended":
      return `no server answers; ${path} stays locked for ${age(progress.leftMs)} more`;
    case "resumed":
      return `connected again; ${path} is still locked`;
    case "paused":
      return `paused while holding ${path}: the command is killed in ${age(progress.leftMs)} unless it continues`;
    case "revoked": {
      const { by = "another client", reason } = progress.request;
      return `${by} asked for ${path}${reason === undefined ? "" : `: ${reason}`}`;
    }
    case "max-hold":
      return `${path} was held for ${age(progress.maxHoldMs)}, the whole --max-hold: released`;
    case "lost":
      return `lost ${path}: ${lossText(progress)}`;
    case "signal":
      return signalText(progress);
    case "short-reach":
      return `warning: /proc does not show zksh its own processes: ${REACHES[progress.reach]}`;
    case "unguarded":
      return `the watchdog ended: ${progress.why}`;
    case "child-exit":
      return "code" in progress.end
        ? `ended with code ${progress.end.code}`
        : `ended by ${progress.end.killedBy}`;
    case "unrecorded":
      return `warning: could not write ${progress.file}: ${progress.why}`;
    case "leftovers":
      return `note: ${path} is held until the processes that process ${progress.pid} started have ended too`;
    case "released":
      return RELEASED[progress.how](path);
    default:
      return undefined;
  }
}

const RELEASED: Readonly<Record<Removed, (path: string) => string>> = {
  delete: (path) => `released ${path}`,
  missing: (path) => `${path} was lost before it was released: its ticket had been deleted`,
  expiry: (path) => `${path} could not be released: ZooKeeper releases it when the session expires`,
};

/** What could not be signalled comes first: it is what has to be acted upon. */
function signalText({
  signal,
  pid,
  why,
  by,
  refused = [],
}: Extract<LockProgress, { event: "signal" }>): string {
  const reason =
    why === "revoked" && by !== undefined ? `${by} asked for the lock` : STOP_REASONS[why];
  const sent = `sent ${signal.replace("SIG", "")} to process ${pid} and its group: ${reason}`;
  if (refused.length === 0) return sent;
  const [names, belong] =
    refused.length === 1 ? ["process", "it belongs"] : ["processes", "they belong"];
  const to = `${names} ${refused.join(", ")}: not permitted, ${belong} to another user`;
  const failed = `could not send ${signal.replace("SIG", "")} to ${to}`;
  return refused.includes(pid) ? `${failed} (${reason})` : `${failed}; ${sent}`;
}
