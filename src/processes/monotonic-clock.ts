import { uptime } from "node:os";

/**
 * Milliseconds of CLOCK_MONOTONIC: never set by NTP, the same for all processes of the machine. It
 * stands still while the machine is suspended.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The resolution of `os.uptime()` on Linux, and the one that it has where /proc/uptime is hidden. */
const BOOT_STEP_MS = 10;
const COARSE_BOOT_STEP_MS = 1_000;

/**
 * Milliseconds of CLOCK_BOOTTIME, which goes on while the machine is suspended and is not set by
 * NTP either. On other systems `os.uptime()` follows the wall clock or counts whole seconds, so the
 * monotonic clock stands in for it.
 */
function bootMs(): number {
  return process.platform === "linux" ? uptime() * 1_000 : monotonicMs();
}

/**
 * A moment on both clocks. It has passed as soon as it has on either: suspended time counts for
 * ZooKeeper's sessions.
 */
export interface Deadline {
  readonly monotonicAt: number;
  readonly bootAt: number;
}

export const NEVER: Deadline = {
  monotonicAt: Number.POSITIVE_INFINITY,
  bootAt: Number.POSITIVE_INFINITY,
};

export const PAST: Deadline = {
  monotonicAt: Number.NEGATIVE_INFINITY,
  bootAt: Number.NEGATIVE_INFINITY,
};

export function deadlineIn(ms: number): Deadline {
  const boot = bootMs();
  // One step more, or rounding would make the coarse clock the earlier one of a machine that was
  // never suspended. A whole number of seconds may be a coarse one.
  const step = boot % COARSE_BOOT_STEP_MS === 0 ? COARSE_BOOT_STEP_MS : BOOT_STEP_MS;
  return { monotonicAt: monotonicMs() + ms, bootAt: boot + ms + step };
}

export function later({ monotonicAt, bootAt }: Deadline, ms: number): Deadline {
  return { monotonicAt: monotonicAt + ms, bootAt: bootAt + ms };
}

/** Negative when the deadline has passed. */
export function msUntil({ monotonicAt, bootAt }: Deadline): number {
  return Math.min(monotonicAt - monotonicMs(), bootAt - bootMs());
}

/** The earlier one on each clock. */
export function earlier(one: Deadline, other: Deadline): Deadline {
  return {
    monotonicAt: Math.min(one.monotonicAt, other.monotonicAt),
    bootAt: Math.min(one.bootAt, other.bootAt),
  };
}
