import type { LockError } from "../errors.ts";
import type { Environment } from "./child-requests.ts";
import { type Deadline, deadlineIn, msUntil, PAST } from "./monotonic-clock.ts";
import type { TreeIdentity } from "./process-tree.ts";
import { startFailure } from "./start-failure.ts";
import { WatchdogProcess } from "./watchdog-process.ts";

export interface Armament {
  readonly tree: TreeIdentity;
  readonly stopAt: Deadline;
  readonly killAt: Deadline;
  /** The first signal to the tree when zksh is dead. */
  readonly deathSignal: "SIGTERM" | "SIGKILL";
  /** The watchdog has ended, and no other could be started and armed. */
  onUnguarded(error: LockError): void;
}

interface Handles {
  resolve(): void;
  reject(error: LockError): void;
}

/** So many watchdogs in a row may end, or not answer, before they are armed. */
const MAX_FAILURES = 3;
/** Before the second and later attempts: the shortage of processes or descriptors may have ended. */
const PAUSE_MS = 100;
/** Generous: it takes 30 ms on a machine with nothing else to do. */
const ANSWER_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 1_000;

/**
 * The connection of zksh to its watchdog. When the watchdog process ends or does not answer any more
 * (it was stopped), another is started and armed. The command is guarded from the moment that {@link arm} has resolved until `onUnguarded` or
 * {@link bye} is called.
 */
export class WatchdogLink {
  /** Resolves when the system has started a process; rejects with LockError when it cannot. */
  readonly started: Promise<void>;
  readonly #environment: Environment;
  #start: Handles | undefined;
  #process: WatchdogProcess | undefined;
  #isReady = false;
  /** Undefined: there is no process to guard. */
  #armament: Armament | undefined;
  /** The number of the last line that is answered. */
  #lastId = 0;
  /** What the watchdog has not answered yet. */
  #question: object | undefined;
  #askAt = PAST;
  #confirmation: Handles | undefined;
  #isStopping = false;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #failure: LockError | undefined;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.started = new Promise((resolve, reject) => {
      this.#start = { resolve, reject };
    });
    this.started.catch(() => {});
    this.#spawn();
  }

  /**
   * Resolves when the watchdog has confirmed what it guards and until when; rejects with LockError
   * when none can.
   */
  arm(armament: Armament): Promise<void> {
    this.#armament = armament;
    this.#isStopping = false;
    return new Promise((resolve, reject) => {
      this.#confirmation = { resolve, reject };
      // The command at the gate may be killed meanwhile, and then nothing else keeps zksh running.
      this.#timer?.ref();
      if (this.#isReady) return this.#sendArmament();
      if (!this.#failure) return;
      // The failure may be an hour old, from the time in the queue.
      this.#failures = 0;
      this.#spawn();
    });
  }

  disarm(): void {
    this.#armament = undefined;
    this.#confirmation = undefined;
    this.#timer?.unref();
    if (this.#isReady) this.#say("disarm");
  }

  permit(stopAt: Deadline, killAt: Deadline): void {
    if (!this.#armament) return;
    this.#armament = { ...this.#armament, stopAt, killAt };
    if (!this.#isReady) return;
    this.#say(permitLine(stopAt, killAt));
    if (this.#question === undefined && msUntil(this.#askAt) <= 0) this.#ask();
  }

  /** zksh itself has asked the tree to end. */
  stopping(): void {
    this.#isStopping = true;
    if (this.#isReady) this.#say("stopping");
  }

  /** Ends the watchdog: there is no process to guard any more. May be called twice. */
  bye(): void {
    this.#armament = undefined;
    this.#confirmation = undefined;
    this.#answered();
    this.#process?.bye();
  }

  #say(line: string): void {
    this.#process?.say(line);
  }

  #spawn(): void {
    this.#failure = undefined;
    this.#process = new WatchdogProcess(this.#environment, {
      onSpawn: () => this.#start?.resolve(),
      onReady: () => this.#ready(),
      onDone: (id) => this.#done(id),
      onEnd: (why) => this.#ended(why),
    });
    this.#expectAnswer();
  }

  #ready(): void {
    this.#answered();
    this.#isReady = true;
    if (this.#armament) this.#sendArmament();
    else this.#failures = 0;
  }

  #sendArmament(): void {
    if (!this.#armament) return;
    const { tree, stopAt, killAt, deathSignal } = this.#armament;
    this.#say(permitLine(stopAt, killAt));
    this.#say(`arm ${++this.#lastId} ${deathSignal} ${JSON.stringify(tree)}`);
    if (this.#isStopping) this.#say("stopping");
    this.#expectAnswer();
  }

  #ask(): void {
    this.#askAt = deadlineIn(ASK_EVERY_MS);
    this.#say(`ask ${++this.#lastId}`);
    this.#expectAnswer();
  }

  #done(id: number): void {
    if (id !== this.#lastId) return;
    this.#answered();
    this.#failures = 0;
    this.#confirmation?.resolve();
    this.#confirmation = undefined;
  }

  #expectAnswer(): void {
    clearTimeout(this.#timer);
    const question = {};
    this.#question = question;
    const late = new Error(`it did not answer within ${ANSWER_WITHIN_MS / 1_000} s`);
    const look = () => this.#question === question && this.#process?.kill(late);
    // If zksh was frozen, the answer may wait in the pipe: it is read before an immediate is run.
    this.#timer = setTimeout(() => void setImmediate(look), ANSWER_WITHIN_MS);
    if (!this.#confirmation) this.#timer.unref();
  }

  #answered(): void {
    clearTimeout(this.#timer);
    this.#question = undefined;
  }

  #ended(why: Error): void {
    this.#answered();
    this.#isReady = false;
    this.#failures++;
    if (this.#failures >= MAX_FAILURES) this.#fail(startFailure("the watchdog", why));
    else if (this.#failures === 1) this.#spawn();
    else this.#timer = setTimeout(() => this.#spawn(), PAUSE_MS);
  }

  #fail(error: LockError): void {
    this.#failure = error;
    this.#start?.reject(error);
    if (this.#confirmation) this.#confirmation.reject(error);
    else this.#armament?.onUnguarded(error);
    this.#confirmation = undefined;
    this.#armament = undefined;
  }
}

function permitLine(stopAt: Deadline, killAt: Deadline): string {
  const text = ({ monotonicAt, bootAt }: Deadline) => `${monotonicAt},${bootAt}`;
  return `permit ${text(stopAt)} ${text(killAt)}`;
}
