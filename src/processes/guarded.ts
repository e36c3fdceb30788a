import { setTimeout as sleep } from "node:timers/promises";
import type { ChildEnd, GuardedChild, GuardRequest, RunLimits } from "./child-requests.ts";
import type { Gate } from "./gate.ts";
import { type Deadline, deadlineIn, later, msUntil, NEVER, PAST } from "./monotonic-clock.ts";
import { isTableOurs } from "./process-table.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { WatchdogLink } from "./watchdog-link.ts";

/** Signals that tell a program to end. */
export const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** Signals that zksh handles itself while a program runs. */
export const TAKEN = [...ENDING, "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH", "SIGTSTP"] as const;
export type Taken = (typeof TAKEN)[number];
/** Signals after which the program is expected to end. */
const STOPPING: readonly string[] = [...ENDING, "SIGKILL", "SIGABRT"];

const POLL_MS = 25;
/** The time to restore the terminal after Ctrl-Z; a program that still runs then ignores SIGTSTP. */
const STOP_WITHIN_MS = 1_000;
/** Within this time Node reports the end of a program that was killed before. */
const LATE_MS = 1_000;
const FOR_EVER: RunLimits = {
  stopInMs: Number.POSITIVE_INFINITY,
  killInMs: Number.POSITIVE_INFINITY,
};

/** Counted from before the limits are computed: see {@link GuardedChild.permit}. */
export function deadlinesOf(limits: () => RunLimits): { stopAt: Deadline; killAt: Deadline } {
  const now = deadlineIn(0);
  const { stopInMs, killInMs } = limits();
  return { stopAt: later(now, stopInMs), killAt: later(now, killInMs) };
}

export interface GuardedParts {
  readonly gate: Gate;
  readonly tree: ProcessTree;
  readonly watchdog: WatchdogLink;
  readonly hasTerminal: boolean;
  readonly restoreTerminal: () => Promise<void>;
  readonly signals: { giveBack(): void };
}

/** A program at its gate, or running. */
export class Guarded implements GuardedChild {
  readonly pid: number;
  readonly hasOwnGroup: boolean;
  readonly reach: GuardedChild["reach"];
  readonly ended: Promise<ChildEnd>;
  readonly #parts: GuardedParts;
  #stopAt = NEVER;
  #killAt = NEVER;
  /**
   * Set by a permit that came too late: until then, the end of the program may be the work of the
   * watchdog and not yet reported by Node.
   */
  #lateUntil = PAST;
  #wasOutOfTime = false;
  /** The program had no time to restore the terminal. */
  #wasForced = false;
  /** Ctrl-Z was pressed, and the program has not stopped yet. */
  #isStopping = false;

  constructor(parts: GuardedParts) {
    const { gate, tree } = parts;
    this.#parts = parts;
    this.pid = gate.pid;
    this.hasOwnGroup = tree.hasOwnGroup;
    this.reach = isTableOurs() ? "all" : tree.hasOwnGroup ? "group" : "program";
    this.ended = new Promise((resolve) => {
      gate.child.once("exit", (code, killedBy) => {
        tree.programEnded();
        this.#isStopping = false;
        this.#wasForced ||= killedBy !== null;
        // With limits that are not over yet, the watchdog had no reason to act.
        this.#wasOutOfTime ||=
          killedBy !== null && (this.#isOutOfTime() || msUntil(this.#lateUntil) > 0);
        resolve(code === null ? { killedBy: killedBy ?? "" } : { code });
      });
    });
  }

  /** Resolves when the watchdog has confirmed process and deadlines; the gate may open then. */
  arm({
    firstPermit = () => FOR_EVER,
    deathSignal = "SIGTERM",
    onUnguarded,
  }: GuardRequest): Promise<void> {
    const { tree, watchdog } = this.#parts;
    this.#limit(firstPermit);
    return watchdog.arm({
      tree: tree.identity,
      stopAt: this.#stopAt,
      killAt: this.#killAt,
      deathSignal,
      onUnguarded: (error) => onUnguarded?.(error),
    });
  }

  signal(name: NodeJS.Signals): readonly number[] {
    const { tree, watchdog } = this.#parts;
    if (STOPPING.includes(name)) {
      this.#wasForced = true;
      watchdog.stopping();
    }
    return tree.signal(name);
  }

  async gone(): Promise<void> {
    await this.ended;
    while (!this.#parts.tree.isGone()) await sleep(POLL_MS);
  }

  permit(limits: () => RunLimits): void {
    if (this.#isOutOfTime()) this.#lateUntil = deadlineIn(LATE_MS);
    this.#limit(limits);
    this.#parts.watchdog.permit(this.#stopAt, this.#killAt);
  }

  #limit(limits: () => RunLimits): void {
    const { stopAt, killAt } = deadlinesOf(limits);
    this.#stopAt = stopAt;
    this.#killAt = killAt;
  }

  #isOutOfTime(): boolean {
    return Math.min(msUntil(this.#stopAt), msUntil(this.#killAt)) <= 0;
  }

  wasOutOfTime(): boolean {
    return this.#wasOutOfTime;
  }

  async dispose(): Promise<void> {
    const { tree, watchdog, restoreTerminal, signals } = this.#parts;
    watchdog.bye();
    tree.dispose();
    try {
      if (this.#wasForced) await restoreTerminal();
    } finally {
      signals.giveBack();
    }
  }

  /** Forwards a signal that zksh got. */
  passOn(signal: Taken): void {
    const { tree } = this.#parts;
    if (signal === "SIGTSTP") void this.#stop();
    else if (signal === "SIGCONT") this.#goOn();
    else if (!this.#hasFromTerminal(signal)) tree.signalGroup(signal);
  }

  /**
   * True when the terminal has sent the signal to the program as well (keys, a new size), so that
   * forwarding it would deliver it twice.
   */
  #hasFromTerminal(signal: Taken): boolean {
    if (this.hasOwnGroup) return false;
    // Whether SIGINT came from a key is not known.
    if (signal === "SIGINT") return true;
    return this.#parts.hasTerminal && (signal === "SIGQUIT" || signal === "SIGWINCH");
  }

  /** Ctrl-Z: zksh stops after the program only, because a program that goes on needs its guard. */
  async #stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    // The kernel ignores SIGTSTP in an orphaned process group, which an own group is.
    if (this.hasOwnGroup) this.#parts.tree.signal("SIGSTOP");
    const until = deadlineIn(STOP_WITHIN_MS);
    while (this.#isStopping && msUntil(until) > 0) {
      await sleep(POLL_MS);
      if (!this.#isStopping || !this.#parts.tree.isStopped()) continue;
      process.kill(process.pid, "SIGSTOP");
      break;
    }
    this.#isStopping = false;
  }

  #goOn(): void {
    const { tree } = this.#parts;
    this.#isStopping = false;
    // It must not run again when its lock has been lost meanwhile.
    if (msUntil(this.#killAt) <= 0) {
      this.#wasOutOfTime = true;
      this.signal("SIGKILL");
    } else if (this.hasOwnGroup) tree.signal("SIGCONT");
    else tree.signalGroup("SIGCONT");
  }
}
