/**
 * A program of its own, started beside a guarded program: when zksh is frozen or dead it ends what zksh can no longer
 * end. It reads lines from stdin:
 *
 *     tree JSON              the processes it is about (TreeIdentity)
 *     permit STOP-AT KILL-AT until when they may run, in milliseconds of the clock that all processes share
 *     stopping               zksh itself has asked them to end
 *     bye                    all is well
 *
 * The end of stdin without a bye is the end of zksh.
 */
import { monotonicMs } from "./monotonic-clock.ts";
import { ProcessTree } from "./process-tree.ts";
import { takeSignals } from "./signals.ts";

/** How late zksh may be with what it should do itself. */
const TOLERANCE_MS = 250;
/** What the program gets to end by itself when zksh is dead. */
const GRACE_MS = 5_000;
const POLL_MS = 50;
/** A process that is still there so long after SIGKILL is not ours to end. */
const GIVE_UP_AFTER_MS = 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

class Watchdog {
  readonly #leave: () => void;
  #tree: ProcessTree | undefined;
  #stopAt = Number.POSITIVE_INFINITY;
  #killAt = Number.POSITIVE_INFINITY;
  #hasBeenAsked = false;
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
    // The last word counts: nothing is done before all of them are known.
    this.#look();
  }

  #hear(line: string): void {
    const [word = "", ...rest] = line.split(" ");
    if (word === "tree") this.#tree = new ProcessTree(JSON.parse(rest.join(" ")));
    else if (word === "permit") this.#permit(Number(rest[0]), Number(rest[1]));
    else if (word === "stopping") this.#hasBeenAsked = true;
    else if (word === "bye") this.#end();
  }

  /** zksh is dead. */
  inherit(): void {
    const now = monotonicMs();
    this.#hasBeenAsked = false;
    this.#stopAt = now - TOLERANCE_MS;
    this.#killAt = Math.min(now + GRACE_MS, this.#killAt);
    this.#look();
  }

  #permit(stopAt: number, killAt: number): void {
    this.#stopAt = stopAt;
    this.#killAt = killAt;
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (!this.#tree || this.#hasEnded) return;
    const now = monotonicMs();
    const askAt = this.#stopAt + TOLERANCE_MS;
    const actsAt = Math.min(askAt, this.#killAt);
    if (now < actsAt) return this.#lookAgainIn(actsAt - now);
    if (now >= this.#killAt) this.#tree.signal("SIGKILL");
    else if (!this.#hasBeenAsked) this.#tree.signal("SIGTERM");
    this.#hasBeenAsked = true;
    if (this.#tree.isGone() || now > this.#killAt + GIVE_UP_AFTER_MS) return this.#end();
    this.#lookAgainIn(now < this.#killAt ? Math.min(POLL_MS, this.#killAt - now) : POLL_MS);
  }

  #lookAgainIn(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    // When we were frozen too, newer words may wait to be read; they are before an immediate comes.
    const look = () => void setImmediate(() => this.#look());
    this.#timer = setTimeout(look, Math.min(ms, LONGEST_TIMER_MS));
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#leave();
  }
}

const watchdog = new Watchdog(() => process.stdin.destroy());
// Whoever ends zksh's whole service also tells us; we end with zksh.
takeSignals(["SIGINT", "SIGTERM", "SIGHUP"], () => {});
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => watchdog.read(chunk));
process.stdin.on("error", () => {});
process.stdin.on("end", () => watchdog.inherit());
