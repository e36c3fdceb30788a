/** What a guard goes by: what the options say, and the times that follow from the session. */
import type {
  ChildEnd,
  GuardedChild,
  GuardRequest,
  RunLimits,
} from "../../processes/child-requests.ts";
import type { LockProgress, StopReason } from "../../results/locks.ts";
import type { Session } from "../../session/session.ts";
import type { Held } from "./lock-kind.ts";
import { type LockRun, pathOf } from "./lock-run.ts";

export interface GuardSettings {
  readonly path: string;
  /** Undefined: derived from the session timeout whenever it is needed, see {@link Pace}. */
  readonly graceMs: number | undefined;
  readonly stopSignal: NodeJS.Signals;
  readonly onSuspend: "ignore" | "stop" | "term";
  /**
   * Undefined: SIGTERM and the grace for a session that runs out, SIGKILL at once for a deleted
   * ticket.
   */
  readonly onLost: "term" | "kill" | "warn" | undefined;
  readonly onRevoke: "term" | "ignore";
}

export interface GuardOptions {
  readonly session: Session;
  readonly holding: Pick<Held, "signal" | "heldForMs" | "onRevoke">;
  readonly settings: GuardSettings;
  start(
    hooks: Pick<GuardRequest, "onSignal" | "onUnguarded" | "firstPermit">,
  ): Promise<GuardedChild>;
  tell(progress: LockProgress): void;
}

export interface GuardedEnd {
  readonly end: ChildEnd;
  /** It had to be stopped, or the lock was not held to the end. */
  readonly stopped?: StopReason;
}

export function guardSettings(task: LockRun): GuardSettings {
  const {
    grace: graceMs,
    stopSignal = "SIGTERM",
    onSuspend = "ignore",
    onLost,
    onRevoke = "term",
  } = task.values;
  return { path: pathOf(task), graceMs, stopSignal, onSuspend, onLost, onRevoke };
}

/**
 * The session timeout may change with every reconnect, so both times are derived from the present
 * one: a grace made for
 * 30 s, kept when the server comes back with 6 s, would stop a healthy command.
 */
export class Pace {
  readonly #session: Pick<Session, "timeoutMs">;
  readonly #graceMs: number | undefined;

  constructor(session: Pick<Session, "timeoutMs">, { graceMs }: Pick<GuardSettings, "graceMs">) {
    this.#session = session;
    this.#graceMs = graceMs;
  }

  /** Between SIGTERM and SIGKILL. An explicit one stays as it was given. */
  get graceMs(): number {
    return this.#graceMs ?? Math.min(5_000, this.#session.timeoutMs / 4);
  }

  /**
   * How often clocks are compared: fine enough for the margin that the session keeps before its
   * end.
   */
  get tickMs(): number {
    return Math.min(250, Math.max(20, this.#session.timeoutMs / 80));
  }
}

/** How long the program may go on if nothing is heard from ZooKeeper or from zksh any more. */
export function runLimits(
  held: Pick<Held, "heldForMs">,
  { onLost }: Pick<GuardSettings, "onLost">,
  { graceMs }: Pick<Pace, "graceMs">,
): RunLimits {
  if (onLost === "warn") return { stopInMs: Infinity, killInMs: Infinity };
  const leftMs = held.heldForMs();
  return { stopInMs: onLost === "kill" ? Infinity : leftMs - graceMs, killInMs: leftMs };
}
