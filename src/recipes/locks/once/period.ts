/** Periods of a job that runs once in each: of equal length, and the same for all hosts. */

/** `offsetMs` is where a period begins, counted from 1970-01-01T00:00Z. */
export interface Per {
  readonly lengthMs: number;
  readonly offsetMs?: number;
}

/** A period by ZooKeeper's clock: milliseconds since the epoch, `endMs` not included. */
export interface Period {
  readonly beginMs: number;
  readonly endMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** In UTC; a week begins on Monday, and 1970-01-05 was one. */
export const CALENDAR: Readonly<Record<"hour" | "day" | "week", Per>> = {
  hour: { lengthMs: HOUR_MS },
  day: { lengthMs: DAY_MS },
  week: { lengthMs: 7 * DAY_MS, offsetMs: 4 * DAY_MS },
};

/** The period that a time is in. */
export function periodAt(ms: number, { lengthMs, offsetMs = 0 }: Per): Period {
  const beginMs = Math.floor((ms - offsetMs) / lengthMs) * lengthMs + offsetMs;
  return { beginMs, endMs: beginMs + lengthMs };
}

export function isSamePeriod(one: Period, other: Period): boolean {
  return one.beginMs === other.beginMs && one.endMs === other.endMs;
}
