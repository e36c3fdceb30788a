/**
 * Runs a program while a lock is held, and never after it.
 *
 * The safety clock: `heldForMs` is the time for which ZooKeeper cannot grant the lock to another
 * client, even if no reply ever comes again. When only the grace is left, the program gets SIGTERM;
 * at zero it gets SIGKILL. Both happen before the server can expire the session. A watchdog process
 * has the same limits, in case this process is frozen or killed.
 */

import { startTimer } from "../../async/timer.ts";
import { LockError } from "../../errors.ts";
import type { GuardedChild, GuardRequest } from "../../processes/child-requests.ts";
import type { RevokeRequest } from "../../recipes/locks/holder-record.ts";
import type { Session } from "../../session/session.ts";
import { type GuardedEnd, type GuardOptions, Pace, runLimits } from "./guard-settings.ts";
import { type SentSignal, Stopper } from "./stopper.ts";
import { Unstoppable } from "./unstoppable.ts";

/** A second signal within this time starts the grace: the user wants the program to end. */
const IMPATIENCE_MS = 2_000;
/** After this time a message names the processes that outlive the program. */
const LEFTOVERS_AFTER_MS = 1_000;

export class Guard {
  readonly #options: GuardOptions;
  readonly #pace: Pace;
  #child: GuardedChild | undefined;
  #stopper: Stopper | undefined;
  #isLost = false;
  #revokedBy: { readonly by?: string } = {};
  #lastSignalAt = -Infinity;
  #ticking: NodeJS.Timeout | undefined;
  readonly #unstoppable = new Unstoppable();

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#pace = new Pace(options.session, options.settings);
  }

  /** What the program is to be started with. */
  get hooks(): Pick<GuardRequest, "onSignal" | "onUnguarded" | "firstPermit"> {
    const { holding, settings } = this.#options;
    return {
      onSignal: (signal) => this.#signalled(signal),
      onUnguarded: (error) => this.#unguarded(error),
      firstPermit: () => runLimits(holding, settings, this.#pace),
    };
  }

  /** Guards a program that was started with {@link hooks}, to its end. */
  async run(child: GuardedChild): Promise<GuardedEnd> {
    const { session, holding, settings, tell } = this.#options;
    const { path, stopSignal, stopAt = Infinity } = settings;
    const pace = this.#pace;
    const { pid } = child;
    const onSignal = (sent: SentSignal) =>
      tell({ event: "signal", path, pid, ...sent, ...this.#revokedBy });
    const stopper = new Stopper({
      child,
      get graceMs() {
        return pace.graceMs;
      },
      get leftMs() {
        return runLimits(holding, settings, pace).killInMs;
      },
      stopSignal,
      onSignal,
    });
    this.#child = child;
    this.#stopper = stopper;
    tell({ event: "started", path, pid });
    this.#tickLater();
    const stopState = session.onState(({ state }) => this.#stateChanged(state));
    const stopRevoke = holding.onRevoke((request) => this.#revoked(request));
    const onLost = () => this.#tick();
    holding.signal.addEventListener("abort", onLost, { once: true });
    const stopMaxHold = startTimer(stopAt - performance.now(), () => stopper.stop("max-hold"));
    try {
      this.#tick();
      if (session.state === "suspended") this.#stateChanged("suspended");
      const end = await Promise.race([child.ended, this.#unstoppable.told]);
      if ("killedBy" in end && end.killedBy === "SIGKILL" && child.wasOutOfTime())
        stopper.watchdogKilled();
      tell({ event: "child-exit", path, end });
      const mention = () => tell({ event: "leftovers", path, pid });
      const leftovers = setTimeout(mention, LEFTOVERS_AFTER_MS);
      const gone = child.gone().finally(() => clearTimeout(leftovers));
      await Promise.race([gone, this.#unstoppable.told]);
      // During a pause of this process the session may have expired without an event, or the
      // watchdog may have stopped the program although the session lives. Both count as lost.
      this.#isLost ||= holding.heldForMs() <= 0 || child.wasOutOfTime();
      const stopped = stopper.why ?? (this.#isLost ? "lost" : undefined);
      return { end, ...(stopped && { stopped }) };
    } finally {
      clearTimeout(this.#ticking);
      stopMaxHold();
      stopper.end();
      stopState();
      stopRevoke();
      holding.signal.removeEventListener("abort", onLost);
      await child.dispose();
    }
  }

  #tickLater(): void {
    this.#ticking = setTimeout(() => {
      this.#tickLater();
      this.#tick();
    }, this.#pace.tickMs);
  }

  #tick(): void {
    const { holding, settings } = this.#options;
    const { path, onLost } = settings;
    const leftMs = holding.heldForMs();
    this.#isLost ||= leftMs <= 0;
    if (onLost === "warn") return;
    if (this.#isLost) this.#unstoppable.lost(path, this.#stopper?.unkillable);
    if (isNodeDeleted(holding.signal)) {
      // The next holder may have the lock already, so a grace would be time beside that holder.
      if (onLost !== "term") return this.#stopper?.kill("deleted");
      return this.#stopper?.stop("deleted");
    }
    const limits = () => runLimits(holding, settings, this.#pace);
    this.#child?.permit(limits);
    if (leftMs <= this.#pace.tickMs) this.#stopper?.kill("lost");
    else if (limits().stopInMs <= 0) this.#stopper?.stop("lost");
  }

  #stateChanged(state: Session["state"]): void {
    const { holding, settings, tell } = this.#options;
    const { path, onSuspend } = settings;
    if (state === "suspended") {
      tell({ event: "suspended", path, leftMs: holding.heldForMs() });
      if (onSuspend === "term") this.#stopper?.stop("suspended");
      else if (onSuspend === "stop") this.#stopper?.freeze(true);
    } else if (state === "connected" && holding.heldForMs() > 0) {
      tell({ event: "resumed", path });
      this.#stopper?.freeze(false);
    }
  }

  #unguarded({ message }: Error): void {
    this.#options.tell({ event: "unguarded", path: this.#options.settings.path, why: message });
    this.#stopper?.stop("unguarded");
  }

  #revoked(request: RevokeRequest): void {
    const { settings, tell } = this.#options;
    tell({ event: "revoked", path: settings.path, request });
    if (request.by !== undefined) this.#revokedBy = { by: request.by };
    if (settings.onRevoke === "term") this.#stopper?.stop("revoked");
  }

  /** The signal was forwarded already. A second one soon after starts the grace. */
  #signalled(signal: NodeJS.Signals): void {
    const { holding, settings, tell } = this.#options;
    if (signal === "SIGTSTP")
      tell({ event: "paused", path: settings.path, leftMs: holding.heldForMs() });
    if (signal !== "SIGTERM" && signal !== "SIGINT") return;
    const now = performance.now();
    const isSecond = now - this.#lastSignalAt <= IMPATIENCE_MS;
    this.#lastSignalAt = now;
    if (isSecond) this.#stopper?.killAfterGrace("impatient");
  }
}

function isNodeDeleted({ reason }: AbortSignal): boolean {
  return reason instanceof LockError && reason.lostReason === "node-deleted";
}
