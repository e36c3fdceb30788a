import { readFileSync } from "node:fs";

/** Milliseconds of a clock that cannot be set and that also runs while the machine is suspended. */
export interface Clock {
  now(): number;
}

/**
 * A jump of the wall clock by more than this may be a suspended machine; slewing by NTP stays below
 * it.
 */
const WALL_JUMP_MS = 20;
/**
 * /proc/uptime counts hundredths of a second: less than this is no evidence of a suspended machine.
 */
const SHORTEST_SUSPEND_MS = 50;

/** What {@link SystemClock} is made of; tests set the hands themselves. */
export interface ClockSources {
  /** Not settable; on Linux it stands still while the machine is suspended. */
  monotonicMs(): number;
  /** Settable by NTP and by hand: used as a cheap hint only. */
  wallMs(): number;
  /**
   * Not settable, and runs on while the machine is suspended; undefined where the system has no
   * such clock.
   */
  bootMs(): number | undefined;
}

export const systemSources: ClockSources = {
  // Not `performance`: the first look at it loads ten of Node's modules, at every start.
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  wallMs: () => Date.now(),
  bootMs: linuxUptimeMs,
};

/**
 * The monotonic clock plus the time that the machine was suspended. Servers count that time, so a
 * lease that ignored it would outlive its session. The wall clock alone cannot tell: NTP steps it
 * on healthy machines too. So a jump of the wall clock is only the reason to compare the boot-time
 * clock (CLOCK_BOOTTIME), which costs a system call, with the monotonic one.
 */
export class SystemClock implements Clock {
  readonly #sources: ClockSources;
  readonly #bootAheadMs: number;
  #wallAheadMs: number;
  #suspendedMs = 0;

  constructor(sources: ClockSources = systemSources) {
    this.#sources = sources;
    this.#bootAheadMs = bootAheadMs(sources);
    this.#wallAheadMs = sources.wallMs() - sources.monotonicMs();
  }

  now(): number {
    const mono = this.#sources.monotonicMs();
    const wallAheadMs = this.#sources.wallMs() - mono;
    if (Math.abs(wallAheadMs - this.#wallAheadMs) > WALL_JUMP_MS) {
      this.#wallAheadMs = wallAheadMs;
      this.#noteSuspension();
    }
    return mono + this.#suspendedMs;
  }

  #noteSuspension(): void {
    const suspendedMs = bootAheadMs(this.#sources) - this.#bootAheadMs;
    if (suspendedMs - this.#suspendedMs >= SHORTEST_SUSPEND_MS) this.#suspendedMs = suspendedMs;
  }
}

/**
 * The least of three readings: a process that is paused between the two clocks sees too large a
 * difference.
 */
function bootAheadMs({ monotonicMs, bootMs }: ClockSources): number {
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < 3; reading++) {
    const mono = monotonicMs();
    const boot = bootMs();
    if (boot === undefined) return 0;
    least = Math.min(least, boot - mono);
  }
  return least;
}

/** Node's monotonic clock on macOS counts sleep by itself; only Linux needs a second clock. */
function linuxUptimeMs(): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const [seconds = ""] = readFileSync("/proc/uptime", "latin1").split(" ", 1);
    return seconds === "" || Number.isNaN(Number(seconds)) ? undefined : Number(seconds) * 1_000;
  } catch {
    // A container may hide /proc: suspended time is then not counted, which docs/lock-safety.md
    // says.
    return undefined;
  }
}
