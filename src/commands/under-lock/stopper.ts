/** Ends a program: first with SIGTERM (or --stop-signal), after the grace with SIGKILL. */
import type { GuardedChild } from "../../processes/child-requests.ts";
import type { StopReason } from "../../results/locks.ts";

export interface StopperOptions {
  readonly child: GuardedChild;
  readonly graceMs: number;
  /** The time for which the lock is provably held; Infinity if its loss does not stop the program. */
  readonly leftMs: number;
  readonly stopSignal: NodeJS.Signals;
  onSignal(sent: SentSignal): void;
}

export interface SentSignal {
  readonly signal: NodeJS.Signals;
  readonly why: StopReason;
  /** The processes that could not be signalled. Left out if there are none. */
  readonly refused?: readonly number[];
}

export class Stopper {
  readonly #options: StopperOptions;
  #why: StopReason | undefined;
  #isFrozen = false;
  #isKilled = false;
  #killTimer: NodeJS.Timeout | undefined;
  #unkillable: readonly number[] = [];

  constructor(options: StopperOptions) {
    this.#options = options;
  }

  /** Why the program must end. Undefined while it may run. */
  get why(): StopReason | undefined {
    return this.#why;
  }

  /** The processes that SIGKILL was refused for, because they belong to another user. */
  get unkillable(): readonly number[] {
    return this.#unkillable;
  }

  /** Freezes the program, or lets it continue. */
  freeze(isFrozen: boolean): void {
    if (this.#isFrozen === isFrozen || (isFrozen && this.#why !== undefined)) return;
    this.#isFrozen = isFrozen;
    this.#options.child.signal(isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  stop(why: StopReason): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    const { child, stopSignal } = this.#options;
    child.permit(() => ({ stopInMs: Infinity, killInMs: this.#killInMs(why) }));
    this.#send(stopSignal, why);
    // A frozen program does not handle the signal before it continues.
    this.freeze(false);
    this.killAfterGrace(why);
  }

  killAfterGrace(why: StopReason): void {
    this.#killTimer ??= setTimeout(() => this.kill(why), this.#options.graceMs);
  }

  kill(why: StopReason): void {
    if (this.#isKilled) return;
    this.#isKilled = true;
    // After two signals of the user the lock is still held: that is no reason to call it lost.
    if (why !== "impatient") {
      this.#why ??= why;
      // The watchdog kills it too, should zksh be frozen or die right now.
      this.#options.child.permit(() => ({ stopInMs: Infinity, killInMs: 0 }));
    }
    this.#send("SIGKILL", why);
  }

  /** The watchdog sent SIGKILL, because this process was late: it is reported all the same. */
  watchdogKilled(): void {
    if (this.#isKilled) return;
    this.#isKilled = true;
    this.#why ??= "lost";
    this.#options.onSignal({ signal: "SIGKILL", why: this.#why });
  }

  /** Sends no more signals. */
  end(): void {
    clearTimeout(this.#killTimer);
    this.#isKilled = true;
  }

  /**
   * After a pause of this process less than the grace may be left of the lease. A lock whose ticket
   * was deleted has no lease; the grace was asked for explicitly there.
   */
  #killInMs(why: StopReason): number {
    const { graceMs, leftMs } = this.#options;
    return why === "deleted" ? graceMs : Math.min(graceMs, leftMs);
  }

  #send(signal: NodeJS.Signals, why: StopReason): void {
    const refused = this.#options.child.signal(signal);
    if (signal === "SIGKILL") this.#unkillable = refused;
    this.#options.onSignal({ signal, why, ...(refused.length > 0 && { refused }) });
  }
}
