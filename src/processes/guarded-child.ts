import { randomUUID } from "node:crypto";
import { InterruptedError, LockError } from "../errors.ts";
import type {
  Environment,
  GuardedChild,
  GuardPreparation,
  GuardRequest,
  PrepareOptions,
} from "./child-requests.ts";
import { findProgram } from "./find-program.ts";
import { Gate } from "./gate.ts";
import { ENDING, Guarded, TAKEN, type Taken } from "./guarded.ts";
import { findProcess, isTableOurs } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";
import { findSetpriv, setprivWords } from "./setpriv.ts";
import { takeSignals } from "./signals.ts";
import { startFailure } from "./start-failure.ts";
import { hasControllingTerminal, saveTerminalModes } from "./terminal-modes.ts";
import { WatchdogLink } from "./watchdog-link.ts";

/** Signals for zksh as well as for the program: no key of the terminal sends them. */
const FOR_ALL: readonly Taken[] = ["SIGTERM", "SIGHUP"];

/** Throws LockError when the watchdog cannot be started, so that zksh does not queue in vain. */
export async function prepareGuard(
  environment: Environment,
  options: PrepareOptions,
): Promise<GuardPreparation> {
  const preparation = new Preparation(environment, options);
  await preparation.watchdog.started;
  return preparation;
}

/** The slow part of starting a guarded program, done while zksh connects and queues. */
class Preparation implements GuardPreparation {
  readonly environment: Environment;
  readonly watchdog: WatchdogLink;
  readonly hasSetpriv: Promise<boolean>;
  readonly #onStart: PrepareOptions["onStart"];
  readonly #terminal: Promise<() => Promise<void>> | undefined;

  constructor(environment: Environment, { savesTerminal, onStart }: PrepareOptions) {
    this.environment = environment;
    this.watchdog = new WatchdogLink(environment);
    this.hasSetpriv = findSetpriv(environment);
    this.#onStart = onStart;
    this.#terminal = savesTerminal ? saveTerminalModes() : undefined;
  }

  /** Resolves with the function that restores the terminal's modes. */
  terminal(): Promise<() => Promise<void>> {
    return this.#terminal ?? saveTerminalModes();
  }

  async start(request: GuardRequest): Promise<GuardedChild> {
    this.#onStart?.();
    return startGuarded(request, this);
  }

  dispose(): void {
    this.watchdog.bye();
  }
}

/**
 * Starts a program at a gate, with stdin, stdout and stderr of zksh. The gate opens when the
 * watchdog has confirmed the process and its deadlines. Throws LockError when the program cannot be
 * started, and InterruptedError when a signal told zksh to end before that.
 */
async function startGuarded(
  request: GuardRequest,
  preparation: Preparation,
): Promise<GuardedChild> {
  const { environment, watchdog } = preparation;
  const signals = new StartSignals(request);
  try {
    const hasTerminal = hasControllingTerminal();
    const [hasSetpriv, restoreTerminal] = await Promise.all([
      preparation.hasSetpriv,
      preparation.terminal(),
      refuseUnlessFound(request.argv[0], environment),
    ]);
    signals.throwIfTold();
    request.mayStart?.();
    const prefix = hasSetpriv ? setprivWords(request.deathSignal ?? "SIGTERM") : [];
    const atGate = await startAtGate(request, { environment, prefix, hasTerminal });
    const guarded = new Guarded({ ...atGate, watchdog, hasTerminal, restoreTerminal, signals });
    try {
      await Promise.race([guarded.arm(request), signals.told]);
      signals.throwIfTold();
      request.mayStart?.();
      refuseIfShellFailed(request.argv[0], atGate.gate);
    } catch (error) {
      await atGate.gate.close();
      atGate.tree.dispose();
      watchdog.disarm();
      throw error;
    }
    atGate.gate.open();
    signals.passOnTo(guarded);
    return guarded;
  } catch (error) {
    signals.giveBackUnused();
    throw error;
  }
}

/** Handles the signals to zksh from the start of a program to its end. */
class StartSignals {
  /** Rejects when zksh is told to end before the program has begun. */
  readonly told: Promise<never>;
  readonly #request: GuardRequest;
  readonly #stopTaking: () => void;
  #tell: (error: Error) => void = () => {};
  #guarded: Guarded | undefined;
  #ending: Taken | undefined;
  #endingForAll: Taken | undefined;
  #isPaused = false;

  constructor(request: GuardRequest) {
    this.#request = request;
    this.told = new Promise((_, reject) => {
      this.#tell = reject;
    });
    this.told.catch(() => {});
    request.signal?.addEventListener("abort", this.#aborted, { once: true });
    this.#stopTaking = takeSignals(TAKEN, (signal) => this.#take(signal));
  }

  throwIfTold(): void {
    if (this.#ending || this.#request.signal?.aborted) throw new InterruptedError();
  }

  /** The program has begun: from now on signals are forwarded to it. */
  passOnTo(guarded: Guarded): void {
    this.#guarded = guarded;
    this.#request.signal?.removeEventListener("abort", this.#aborted);
    // Ctrl-Z at the gate has stopped the shell there, and has to stop us too.
    if (this.#isPaused) guarded.passOn("SIGTSTP");
  }

  /** The program has ended. */
  giveBack(): void {
    this.#stopTaking();
    if (this.#request.goesOn && this.#endingForAll)
      process.emit(this.#endingForAll, this.#endingForAll);
  }

  /** The program has never begun: a signal to end goes to the earlier listeners. */
  giveBackUnused(): void {
    this.#request.signal?.removeEventListener("abort", this.#aborted);
    this.#stopTaking();
    if (this.#ending) process.emit(this.#ending, this.#ending);
  }

  readonly #aborted = (): void => this.#tell(new InterruptedError());

  #take(signal: Taken): void {
    if (ENDING.some((name) => name === signal)) {
      this.#ending ??= signal;
      this.#tell(new InterruptedError());
    }
    if (FOR_ALL.includes(signal)) this.#endingForAll ??= signal;
    if (signal === "SIGTSTP" || signal === "SIGCONT") this.#isPaused = signal === "SIGTSTP";
    this.#guarded?.passOn(signal);
    this.#request.onSignal(signal);
  }
}

async function refuseUnlessFound(name: string, environment: Environment): Promise<void> {
  const { kind } = await findProgram(name, environment);
  if (kind === "not-found")
    throw new LockError("command-not-found", `cannot start ${name}: no such program`);
  if (kind !== "found")
    throw new LockError("command-not-executable", `cannot start ${name}: not executable`);
}

/**
 * Throws when the shell at the gate exited. A shell that was killed counts as a program that was
 * killed at once.
 */
function refuseIfShellFailed(name: string, { child: { exitCode } }: Gate): void {
  if (exitCode === null) return;
  const why = `the shell that starts it ended with code ${exitCode}`;
  throw new LockError("command-not-executable", `cannot start ${name}: ${why}`);
}

interface StartOptions {
  readonly environment: Environment;
  readonly prefix: readonly string[];
  readonly hasTerminal: boolean;
}

async function startAtGate(
  { argv, env, group, stdout }: GuardRequest,
  { environment, prefix, hasTerminal }: StartOptions,
): Promise<{ gate: Gate; tree: ProcessTree }> {
  const { ZK_LOCK_SEQUENCER: sequencer } = env;
  const [name, value] =
    sequencer === undefined ? ["ZKSH_GUARD", randomUUID()] : ["ZK_LOCK_SEQUENCER", sequencer];
  // Without a process table, only a process group of its own can be signalled as a whole.
  const isShared = group === "share" || (group === "auto" && hasTerminal && isTableOurs());
  const gate = await Gate.start({
    argv,
    environment: { ...environment, ...env, [name]: value },
    prefix,
    isDetached: !isShared,
    stdout,
  });
  try {
    const tree = new ProcessTree({
      pid: gate.pid,
      start: findProcess(gate.pid)?.start ?? "",
      session: isShared ? (findProcess(process.pid)?.session ?? 0) : gate.pid,
      guard: process.pid,
      mark: `${name}=${value}`,
    });
    return { gate, tree };
  } catch (error) {
    // No descriptor is left to look after it with.
    await gate.close();
    throw startFailure(argv[0], error);
  }
}
