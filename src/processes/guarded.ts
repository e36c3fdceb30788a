import { setTimeout as sleep } from "node:timers/promises";
import type { ChildEnd, GuardedChild, GuardRequest, RunLimits } from "./child-requests.ts";
import type { Gate } from "./gate.ts";
import { deadlineIn, msUntil, NEVER, PAST } from "./monotonic-clock.ts";
import { isTableOurs } from "./process-table.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { WatchdogLink } from "./watchdog-link.ts";

/** Those that tell a program to end. */
export const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** Those that zksh hears while a program runs. */
export const TAKEN = [...ENDING, "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH", "SIGTSTP"] as const;
export type Taken = (typeof TAKEN)[number];
/** Those after which the program is not expected to go on as before. */
const STOPPING: readonly string[] = [...ENDING, "SIGKILL", "SIGABRT"];

const POLL_MS = 25;
/**
 * What a program gets to tidy up the terminal after Ctrl-Z; one that has not stopped by then will
 * not.
 */
const STOP_WITHIN_MS = 1_000;
/** By then the end of a program that was killed before has been told. */
const LATE_MS = 1_000;
const FOR_EVER: RunLimits = {
  stopInMs: Number.POSITIVE_INFINITY,
  killInMs: Number.POSITIVE_INFINITY,
};

export interface GuardedParts {
  readonly gate: Gate;
  readonly tree: ProcessTree;
  readonly watchdog: WatchdogLink;
  readonly hasTerminal: boolean;
  readonly restoreTerminal: () => Promise<void>;
  readonly signals: { giveBack(): void };
}

/** A program behind its gate, or past it. */
export class Guarded implements GuardedChild {
  readonly pid: number;
  readonly hasOwnGroup: boolean;
  readonly reach: GuardedChild["reach"];
  readonly ended: Promise<ChildEnd>;
  readonly #parts: GuardedParts;
  #stopAt = NEVER;
  #killAt = NEVER;
  /**
   * After a permit that came too late: the watchdog may have acted in between, and the program's
   * end is yet to be told.
   */
  #lateUntil = PAST;
  #wasOutOfTime = false;
  /** It was not given the time to put the terminal right. */
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
        // Otherwise we have just told the watchdog how much longer: it acts when we are frozen.
        this.#wasOutOfTime ||=
          killedBy !== null && (this.#isOutOfTime() || msUntil(this.#lateUntil) > 0);
        resolve(code === null ? { killedBy: killedBy ?? "" } : { code });
      });
    });
  }

  /** Resolves when the watchdog has confirmed; the gate may open then. */
  arm({
    firstPermit = () => FOR_EVER,
    deathSignal = "SIGTERM",
    onUnguarded,
  }: GuardRequest): Promise<void> {
    const { tree, watchdog } = this.#parts;
    this.#limit(firstPermit());
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

  permit(limits: RunLimits): void {
    if (this.#isOutOfTime()) this.#lateUntil = deadlineIn(LATE_MS);
    this.#limit(limits);
    this.#parts.watchdog.permit(this.#stopAt, this.#killAt);
  }

  #limit({ stopInMs, killInMs }: RunLimits): void {
    this.#stopAt = deadlineIn(stopInMs);
    this.#killAt = deadlineIn(killInMs);
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

  /** What a signal to us means for the program. */
  passOn(signal: Taken): void {
    const { tree } = this.#parts;
    if (signal === "SIGTSTP") void this.#stop();
    else if (signal === "SIGCONT") this.#goOn();
    else if (!this.#hasFromTerminal(signal)) tree.signalGroup(signal);
  }

  /**
   * Keys and a new size are told to all who share the terminal: passed on, they would come twice.
   */
  #hasFromTerminal(signal: Taken): boolean {
    if (this.hasOwnGroup) return false;
    // It cannot be told whether it came from a key.
    if (signal === "SIGINT") return true;
    return this.#parts.hasTerminal && (signal === "SIGQUIT" || signal === "SIGWINCH");
  }

  /** Ctrl-Z: stops us behind the program, because a program that does not stop needs us. */
  async #stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    // SIGTSTP means nothing to a group that no shell looks after.
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
    // It may not run again when its time is over.
    if (msUntil(this.#killAt) <= 0) {
      this.#wasOutOfTime = true;
      this.signal("SIGKILL");
    } else if (this.hasOwnGroup) tree.signal("SIGCONT");
    else tree.signalGroup("SIGCONT");
  }
}
