/** The settings of a guard: its options, and the times derived from the session timeout. */
import type { ChildEnd, RunLimits } from "../../processes/child-requests.ts";
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
   * Undefined: SIGTERM and the grace when the session runs out, SIGKILL at once when the ticket is
   * deleted.
   */
  readonly onLost: "term" | "kill" | "warn" | undefined;
  readonly onRevoke: "term" | "ignore";
  /** When the program has to end because of --max-hold, by performance.now(). */
  readonly stopAt: number | undefined;
}

export interface GuardOptions {
  readonly session: Session;
  readonly holding: Pick<Held, "signal" | "heldForMs" | "onRevoke">;
  readonly settings: GuardSettings;
  tell(progress: LockProgress): void;
}

export interface GuardedEnd {
  readonly end: ChildEnd;
  /** Why the guard stopped the program, or `lost` if the lock was not held to the end. */
  readonly stopped?: StopReason;
}

export function guardSettings(task: LockRun, acquiredAt: number): GuardSettings {
  const {
    grace: graceMs,
    stopSignal = "SIGTERM",
    onSuspend = "ignore",
    onLost,
    onRevoke = "term",
    maxHold,
  } = task.values;
  const stopAt = maxHold === undefined ? undefined : acquiredAt + maxHold;
  return { path: pathOf(task), graceMs, stopSignal, onSuspend, onLost, onRevoke, stopAt };
}

/**
 * The times that depend on the session timeout. They are computed at each use, because the timeout
 * can change at a reconnect: a grace computed for 30 s would stop a healthy command at 6 s.
 */
export class Pace {
  readonly #session: Pick<Session, "timeoutMs">;
  readonly #graceMs: number | undefined;

  constructor(session: Pick<Session, "timeoutMs">, { graceMs }: Pick<GuardSettings, "graceMs">) {
    this.#session = session;
    this.#graceMs = graceMs;
  }

  /** The time between SIGTERM and SIGKILL. An explicit --grace does not change. */
  get graceMs(): number {
    return this.#graceMs ?? Math.min(5_000, this.#session.timeoutMs / 4);
  }

  /** The interval between two checks: shorter than the margin that the session keeps. */
  get tickMs(): number {
    return Math.min(250, Math.max(20, this.#session.timeoutMs / 80));
  }
}

/** The time that the program may run if ZooKeeper and zksh stay silent from now on. */
export function runLimits(
  held: Pick<Held, "heldForMs">,
  { onLost }: Pick<GuardSettings, "onLost">,
  { graceMs }: Pick<Pace, "graceMs">,
): RunLimits {
  if (onLost === "warn") return { stopInMs: Infinity, killInMs: Infinity };
  const leftMs = held.heldForMs();
  return { stopInMs: onLost === "kill" ? Infinity : leftMs - graceMs, killInMs: leftMs };
}
