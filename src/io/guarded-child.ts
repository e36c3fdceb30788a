import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChildEnd, GuardedChild, GuardRequest } from "../child.ts";
import { InterruptedError, UsageError } from "../errors.ts";
import { findProgram } from "./find-program.ts";
import type { Environment } from "./io.ts";
import { monotonicMs } from "./monotonic-clock.ts";
import { findProcess } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";
import { takeSignals } from "./signals.ts";
import { hasControllingTerminal, saveTerminalModes } from "./terminal-modes.ts";
import { startWatchdog, type WatchdogLink } from "./watchdog-link.ts";

/** Those that tell a program to end. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** Those that are not keys for the program in the foreground. */
const FOR_ALL = ["SIGTERM", "SIGHUP"] as const;
const TAKEN = [...ENDING, "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH", "SIGTSTP"] as const;
type Taken = (typeof TAKEN)[number];
/** Those after which nobody expects the program to go on as before. */
const STOPPING: readonly string[] = [...ENDING, "SIGKILL", "SIGABRT"];

const POLL_MS = 25;
/** What a program gets to tidy up the terminal after Ctrl-Z; one that has not stopped by then will not. */
const STOP_WITHIN_MS = 1_000;

/**
 * Starts a program that has our stdin, stdout and stderr. Throws UsageError when it cannot be started, and
 * InterruptedError when we were told to end before it was.
 */
export async function startGuarded(request: GuardRequest, environment: Environment): Promise<GuardedChild> {
  let guarded: Guarded | undefined;
  let toldToEnd: Taken | undefined;
  let allToldToEnd: Taken | undefined;
  const stopTaking = takeSignals(TAKEN, (signal) => {
    if (ENDING.some((name) => name === signal)) toldToEnd ??= signal;
    if (FOR_ALL.some((name) => name === signal)) allToldToEnd ??= signal;
    guarded?.passOn(signal);
    request.onSignal(signal);
  });
  const giveSignalsBack = () => {
    stopTaking();
    if (request.goesOn && allToldToEnd) process.emit(allToldToEnd, allToldToEnd);
  };
  try {
    const hasTerminal = hasControllingTerminal();
    const [prefix, restoreTerminal] = await Promise.all([
      endingWithUs(environment),
      saveTerminalModes(),
      refuseUnlessFound(request.argv[0], environment),
    ]);
    if (toldToEnd || request.signal?.aborted) throw new InterruptedError();
    const isShared = request.group === "share" || (request.group === "auto" && hasTerminal);
    const parts = await spawnGuarded(request, { environment, prefix, isShared });
    guarded = new Guarded({ ...parts, hasTerminal, restoreTerminal, giveSignalsBack });
    return guarded;
  } catch (error) {
    stopTaking();
    // It was not for the program, which does not run: whoever listened before has to know.
    if (toldToEnd) process.emit(toldToEnd, toldToEnd);
    throw error;
  }
}

async function refuseUnlessFound(name: string, environment: Environment): Promise<void> {
  const { kind } = await findProgram(name, environment);
  if (kind === "found") return;
  const why = kind === "not-found" ? "no such program" : "not executable";
  throw new UsageError(`cannot run ${name}: ${why}`, { reason: "cannot-run" });
}

/** Words before the program's own that make the kernel end it when we die; none where the system has no such thing. */
function endingWithUs(environment: Environment): Promise<readonly string[]> {
  const words = ["setpriv", "--pdeathsig", "TERM", "--"] as const;
  if (process.platform !== "linux") return Promise.resolve([]);
  const [file, ...args] = words;
  // Older ones, and busybox's, do not know the option.
  return new Promise((resolve) => {
    execFile(file, [...args, "true"], { env: { ...environment } }, (error) => resolve(error ? [] : words));
  });
}

interface Parts {
  readonly child: ChildProcess;
  readonly tree: ProcessTree;
  readonly watchdog: WatchdogLink;
}

interface SpawnOptions {
  readonly environment: Environment;
  readonly prefix: readonly string[];
  readonly isShared: boolean;
}

async function spawnGuarded(request: GuardRequest, { environment, prefix, isShared }: SpawnOptions): Promise<Parts> {
  const { argv, env } = request;
  const { ZK_LOCK_SEQUENCER: sequencer } = env;
  const [name, value] = sequencer === undefined ? ["ZKSH_GUARD", randomUUID()] : ["ZK_LOCK_SEQUENCER", sequencer];
  request.mayStart?.();
  const watchdog = startWatchdog(environment);
  try {
    const [file, ...args] = [...prefix, ...argv];
    const child = spawn(file ?? "", args, {
      detached: !isShared,
      stdio: "inherit",
      env: { ...environment, ...env, [name]: value },
    });
    // Some failures are thrown, others are told.
    if (child.pid === undefined) throw (await once(child, "error"))[0];
    const tree = new ProcessTree({
      pid: child.pid,
      start: findProcess(child.pid)?.start ?? "",
      session: isShared ? (findProcess(process.pid)?.session ?? 0) : child.pid,
      guard: process.pid,
      mark: `${name}=${value}`,
    });
    watchdog.guard(tree.identity);
    return { child, tree, watchdog };
  } catch (cause) {
    watchdog.bye();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`cannot run ${argv[0]}: ${why}`, { reason: "cannot-run", cause });
  }
}

interface GuardedParts extends Parts {
  readonly hasTerminal: boolean;
  readonly restoreTerminal: () => Promise<void>;
  readonly giveSignalsBack: () => void;
}

class Guarded implements GuardedChild {
  readonly pid: number;
  readonly hasOwnGroup: boolean;
  readonly ended: Promise<ChildEnd>;
  readonly #parts: GuardedParts;
  #stopAt = Number.POSITIVE_INFINITY;
  #killAt = Number.POSITIVE_INFINITY;
  #wasOutOfTime = false;
  /** It was not given the time to put the terminal right. */
  #wasForced = false;
  /** Ctrl-Z was pressed, and the program has not stopped yet. */
  #isStopping = false;

  constructor(parts: GuardedParts) {
    this.#parts = parts;
    this.pid = parts.tree.identity.pid;
    this.hasOwnGroup = parts.tree.hasOwnGroup;
    this.ended = new Promise((resolve) => {
      parts.child.once("exit", (code, killedBy) => {
        this.#isStopping = false;
        this.#wasForced ||= killedBy !== null;
        // Otherwise we have just told the watchdog how much longer: it acts when we are frozen.
        this.#wasOutOfTime ||= killedBy !== null && monotonicMs() >= Math.min(this.#stopAt, this.#killAt);
        resolve(code === null ? { killedBy: killedBy ?? "" } : { code });
      });
    });
  }

  signal(name: NodeJS.Signals): void {
    const { tree, watchdog } = this.#parts;
    if (STOPPING.includes(name)) {
      this.#wasForced = true;
      watchdog.stopping();
    }
    tree.signal(name);
  }

  async gone(): Promise<void> {
    await this.ended;
    while (!this.#parts.tree.isGone()) await sleep(POLL_MS);
  }

  permit({ stopInMs, killInMs }: { readonly stopInMs: number; readonly killInMs: number }): void {
    const now = monotonicMs();
    this.#stopAt = now + stopInMs;
    this.#killAt = now + killInMs;
    this.#parts.watchdog.permit(this.#stopAt, this.#killAt);
  }

  wasOutOfTime(): boolean {
    return this.#wasOutOfTime;
  }

  async dispose(): Promise<void> {
    const { watchdog, restoreTerminal, giveSignalsBack } = this.#parts;
    watchdog.bye();
    try {
      if (this.#wasForced) await restoreTerminal();
    } finally {
      giveSignalsBack();
    }
  }

  /** What a signal to us means for the program. */
  passOn(signal: Taken): void {
    const { tree } = this.#parts;
    if (signal === "SIGTSTP") void this.#stop();
    else if (signal === "SIGCONT") this.#goOn();
    else if (!this.#hasFromTerminal(signal)) tree.signalGroup(signal);
  }

  /** Keys and a new size are told to everybody who shares the terminal: passed on, they would come twice. */
  #hasFromTerminal(signal: Taken): boolean {
    if (this.hasOwnGroup) return false;
    // One cannot tell whether it came from a key.
    if (signal === "SIGINT") return true;
    return this.#parts.hasTerminal && (signal === "SIGQUIT" || signal === "SIGWINCH");
  }

  /** Ctrl-Z: stops us behind the program, because a program that does not stop needs us. */
  async #stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    // SIGTSTP means nothing to a group that no shell looks after.
    if (this.hasOwnGroup) this.#parts.tree.signal("SIGSTOP");
    const until = monotonicMs() + STOP_WITHIN_MS;
    while (this.#isStopping && monotonicMs() < until) {
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
    if (monotonicMs() >= this.#killAt) {
      this.#wasOutOfTime = true;
      this.signal("SIGKILL");
    } else if (this.hasOwnGroup) tree.signal("SIGCONT");
    else tree.signalGroup("SIGCONT");
  }
}
