/**
 * Runs a program for as long as a lock is held, and not a moment longer.
 *
 * The safety clock: `heldForMs` is the time for which ZooKeeper cannot give the lock to anybody else, even if nothing is
 * ever heard again. When no more than the grace is left of it, the program is asked to end; when it has run out, the
 * program is killed. Both are over before the server can expire the session. The same limits are handed on to a process
 * that outlives us, in case we are frozen or killed.
 */
import type { ChildEnd, GuardedChild, GuardRequest } from "../../child.ts";
import { LockError } from "../../errors.ts";
import type { RevokeRequest } from "../../recipes/locks/holder-record.ts";
import type { LockProgress, StopReason } from "../../results/locks.ts";
import type { Session } from "../../session/session.ts";
import type { Held } from "./recipe.ts";
import { Stopper } from "./stopper.ts";

export interface GuardSettings {
  readonly path: string;
  readonly graceMs: number;
  readonly stopSignal: NodeJS.Signals;
  readonly onSuspend: "ignore" | "stop" | "term";
  readonly onLost: "term" | "kill" | "warn";
  readonly onRevoke: "term" | "ignore";
}

export interface GuardOptions {
  readonly session: Session;
  readonly holding: Pick<Held, "signal" | "heldForMs" | "onRevoke">;
  readonly settings: GuardSettings;
  start(onSignal: GuardRequest["onSignal"]): Promise<GuardedChild>;
  tell(progress: LockProgress): void;
}

export interface GuardedEnd {
  readonly end: ChildEnd;
  /** It had to be stopped, or the lock was not held to the end. */
  readonly stopped?: StopReason;
}

/** A second signal within this time means it. */
const IMPATIENCE_MS = 2_000;
/** Those that the program has left behind are mentioned after this time. */
const LEFTOVERS_AFTER_MS = 1_000;

export class Guard {
  readonly #options: GuardOptions;
  /** Fine enough for the margin that the session keeps before its end. */
  readonly #tickMs: number;
  #child: GuardedChild | undefined;
  #stopper: Stopper | undefined;
  #isLost = false;
  #lastSignalAt = -Infinity;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#tickMs = Math.min(250, Math.max(20, options.session.timeoutMs / 80));
  }

  async run(): Promise<GuardedEnd> {
    const { session, holding, settings, start, tell } = this.#options;
    const { path, graceMs, stopSignal } = settings;
    const child = await start((signal) => this.#signalled(signal));
    const { pid } = child;
    const onSignal = (signal: string, why: StopReason) => tell({ event: "signal", path, signal, pid, why });
    const stopper = new Stopper({ child, graceMs, stopSignal, onSignal });
    this.#child = child;
    this.#stopper = stopper;
    tell({ event: "started", path, pid });
    const ticking = setInterval(() => this.#tick(), this.#tickMs);
    const stopState = session.onState(({ state }) => this.#stateChanged(state));
    const stopRevoke = holding.onRevoke((request) => this.#revoked(request));
    const onLost = () => this.#tick();
    holding.signal.addEventListener("abort", onLost, { once: true });
    try {
      this.#tick();
      if (session.state === "suspended") this.#stateChanged("suspended");
      const end = await child.ended;
      tell({ event: "child-exit", path, end });
      await this.#untilGone(child);
      // A pause may have ended the session without anybody having had the time to say so. And when it has not, as an answer
      // tells that waited for us: the program was stopped all the same.
      this.#isLost ||= holding.heldForMs() <= 0 || child.wasOutOfTime();
      const stopped = stopper.why ?? (this.#isLost ? "lost" : undefined);
      return { end, ...(stopped && { stopped }) };
    } finally {
      clearInterval(ticking);
      stopper.end();
      stopState();
      stopRevoke();
      holding.signal.removeEventListener("abort", onLost);
      await child.dispose();
    }
  }

  #tick(): void {
    const { holding, settings } = this.#options;
    const { graceMs, onLost } = settings;
    const leftMs = holding.heldForMs();
    this.#isLost ||= leftMs <= 0;
    if (onLost === "warn") return;
    // The znode was taken away, but the session lives: there is nothing left to be in time for, and the grace stands.
    if (onLost === "term" && isNodeDeleted(holding.signal)) return this.#stopper?.stop("lost");
    const stopInMs = onLost === "term" ? leftMs - graceMs : Infinity;
    this.#child?.permit({ stopInMs, killInMs: leftMs });
    if (leftMs <= this.#tickMs) this.#stopper?.kill("lost");
    else if (stopInMs <= 0) this.#stopper?.stop("lost");
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

  #revoked(request: RevokeRequest): void {
    const { settings, tell } = this.#options;
    tell({ event: "revoked", path: settings.path, request });
    if (settings.onRevoke === "term") this.#stopper?.stop("revoked");
  }

  /** It was passed on already. The second one in a row starts the clock: whoever sends it wants an end. */
  #signalled(signal: NodeJS.Signals): void {
    const { holding, settings, tell } = this.#options;
    if (signal === "SIGTSTP") tell({ event: "paused", path: settings.path, leftMs: holding.heldForMs() });
    if (signal !== "SIGTERM" && signal !== "SIGINT") return;
    const now = performance.now();
    const isSecond = now - this.#lastSignalAt <= IMPATIENCE_MS;
    this.#lastSignalAt = now;
    if (isSecond) this.#stopper?.killAfterGrace("impatient");
  }

  async #untilGone(child: GuardedChild): Promise<void> {
    const { settings, tell } = this.#options;
    const mention = () => tell({ event: "leftovers", path: settings.path, pid: child.pid });
    const timer = setTimeout(mention, LEFTOVERS_AFTER_MS);
    await child.gone().finally(() => clearTimeout(timer));
  }
}

function isNodeDeleted({ reason }: AbortSignal): boolean {
  return reason instanceof LockError && reason.lostReason === "node-deleted";
}
