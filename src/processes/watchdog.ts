/**
 * A process of its own, started beside a guarded program: it stops the program when zksh is frozen
 * or dead and cannot. It reads lines from stdin:
 *
 *     permit STOP-AT KILL-AT   until when the program may run; each is MONOTONIC,BOOT (see Deadline)
 *     arm ID SIGNAL JSON       the processes to stop (TreeIdentity), and their first signal when zksh is dead
 *     disarm                   there is no process to stop
 *     stopping                 zksh itself has sent them a signal to end
 *     ask ID                   whether the watchdog still runs
 *     bye                      the guarded program has ended; the watchdog ends too
 *
 * and answers on stdout: `ready` when no signal can end it any more, `done ID` to each arm and ask.
 * The end of stdin without a bye means that zksh is dead.
 */
import { writeFileSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { setPriority } from "node:os";
import { type Deadline, deadlineIn, earlier, msUntil, NEVER } from "./monotonic-clock.ts";
import { ProcessTree } from "./process-tree.ts";

/** As `ps` and `killall` show it; at most 15 characters. */
const NAME = "zksh-watchdog";
/** Above all ordinary programs: on a busy machine it must get the CPU when the lease ends. */
const PRIORITY = -10;
/** How late zksh may be with SIGTERM, before the watchdog sends it instead. */
const TOLERANCE_MS = 250;
/** Between SIGTERM and SIGKILL when zksh is dead. */
const GRACE_MS = 5_000;
const POLL_MS = 50;
/** Timers stand still while the machine is suspended, so the boot-time clock is read this often. */
const LONGEST_SLEEP_MS = 250;
/** A process that still runs so long after SIGKILL belongs to another user. */
const GIVE_UP_AFTER_MS = 60_000;

/**
 * All signals that can be caught and would end or stop this process, except those that the hardware
 * raises (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP): a process cannot continue after those.
 */
const IGNORED: readonly NodeJS.Signals[] = [
  // First: until there is a listener, Node opens its debugger on this signal.
  "SIGUSR1",
  "SIGUSR2",
  "SIGTERM",
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGALRM",
  "SIGVTALRM",
  "SIGPROF",
  "SIGIO",
  "SIGPWR",
  "SIGSTKFLT",
  "SIGABRT",
  "SIGSYS",
  "SIGXCPU",
  "SIGXFSZ",
  "SIGTSTP",
  "SIGTTIN",
  "SIGTTOU",
];

class Watchdog {
  readonly #leave: () => void;
  #tree: ProcessTree | undefined;
  #deathSignal: NodeJS.Signals = "SIGTERM";
  #stopAt = NEVER;
  #killAt = NEVER;
  #hasBeenAsked = false;
  #isZkshDead = false;
  #timer: NodeJS.Timeout | undefined;
  #unread = "";
  #hasEnded = false;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  read(chunk: string): void {
    const lines = (this.#unread + chunk).split("\n");
    this.#unread = lines.pop() ?? "";
    for (const line of lines) this.#hear(line);
    // The last permit counts, so all lines are read before anything is done.
    this.#look();
  }

  #hear(line: string): void {
    const [word = "", ...rest] = line.split(" ");
    if (word === "permit") this.#permit(rest);
    else if (word === "arm") this.#arm(rest);
    else if (word === "disarm") this.#disarm();
    else if (word === "stopping") this.#hasBeenAsked = true;
    else if (word === "ask") answer(`done ${rest[0]}`);
    else if (word === "bye") this.#end();
  }

  /** zksh is dead. */
  zkshEnded(): void {
    if (this.#hasEnded) return;
    this.#isZkshDead = true;
    if (!this.#tree) return this.#end();
    const isGentle = this.#deathSignal !== "SIGKILL";
    this.#hasBeenAsked = false;
    this.#stopAt = deadlineIn(-TOLERANCE_MS);
    this.#killAt = earlier(this.#killAt, deadlineIn(isGentle ? GRACE_MS : -1));
    this.#look();
  }

  #permit([stopAt = "", killAt = ""]: readonly string[]): void {
    this.#stopAt = readDeadline(stopAt);
    this.#killAt = readDeadline(killAt);
  }

  #arm([id, signal, ...json]: readonly string[]): void {
    this.#tree?.dispose();
    this.#tree = new ProcessTree(JSON.parse(json.join(" ")));
    this.#deathSignal = signal === "SIGKILL" ? signal : "SIGTERM";
    this.#hasBeenAsked = false;
    answer(`done ${id}`);
  }

  #disarm(): void {
    this.#tree?.dispose();
    this.#tree = undefined;
    this.#stopAt = NEVER;
    this.#killAt = NEVER;
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (!this.#tree || this.#hasEnded) return;
    const killIn = msUntil(this.#killAt);
    const askIn = msUntil(this.#stopAt) + TOLERANCE_MS;
    const actIn = Math.min(askIn, killIn);
    if (actIn > 0) return this.#lookAgainIn(Math.min(actIn, LONGEST_SLEEP_MS));
    if (killIn <= 0) this.#tree.signal("SIGKILL");
    else if (!this.#hasBeenAsked) this.#tree.signal("SIGTERM");
    this.#hasBeenAsked = true;
    if (this.#tree.isGone() || killIn < -GIVE_UP_AFTER_MS) return this.#done();
    this.#lookAgainIn(killIn > 0 ? Math.min(POLL_MS, killIn) : POLL_MS);
  }

  /** There is nothing left to end. A zksh that lives would replace a watchdog that has ended. */
  #done(): void {
    if (this.#isZkshDead) this.#end();
    else this.#disarm();
  }

  #lookAgainIn(ms: number): void {
    // After this process was frozen too, newer permits may wait in the pipe. The event loop reads them
    // before it runs an immediate.
    const look = () => void setImmediate(() => this.#look());
    this.#timer = setTimeout(look, ms);
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#leave();
  }
}

function readDeadline(text: string): Deadline {
  const [monotonicAt, bootAt] = text.split(",").map(Number);
  return { monotonicAt: monotonicAt ?? Number.NaN, bootAt: bootAt ?? Number.NaN };
}

/**
 * Straight to the descriptor: `process.stdout` would take longer to load than everything else here.
 */
function answer(word: string): void {
  try {
    writeSync(1, `${word}\n`);
  } catch {
    // EPIPE: zksh is dead, and stdin ends.
  }
}

for (const name of IGNORED) {
  try {
    process.on(name, () => {});
  } catch {
    // This system has no such signal.
  }
}
for (const prepare of [
  // So that `killall -9 node` ends zksh, and leaves the watchdog to stop the command.
  () => writeFileSync("/proc/self/comm", NAME, { flag: "r+" }),
  () => setPriority(PRIORITY),
  // Where Linux groups processes by session (sched_autogroup), the above counts within ours only,
  // which no other process shares.
  () => writeFileSync("/proc/self/autogroup", String(PRIORITY), { flag: "r+" }),
]) {
  try {
    prepare();
  } catch {
    // Only root may raise it, and not every system has these files. docs/lock-safety.md says what a
    // machine without free CPU means.
  }
}
const stdin = new Socket({ fd: 0, readable: true, writable: false });
const watchdog = new Watchdog(() => stdin.destroy());
stdin.setEncoding("utf8");
stdin.on("data", (chunk: string) => watchdog.read(chunk));
stdin.on("error", () => {});
stdin.on("close", () => watchdog.zkshEnded());
answer("ready");
