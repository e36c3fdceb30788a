import { UsageError } from "../errors.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Reads `1500ms`, `10s`, `5m`, `1h`. A plain number needs a unit, unless it is 0. Throws
 * UsageError.
 */
export function parseDuration(text: string): number {
  const ms = parseZkcliDuration(text);
  if (ms === 0 || !/\d$/.test(text)) return ms;
  throw new UsageError(`duration '${text}' needs a unit: ${text}s or ${text}ms`, {
    reason: "no-unit",
  });
}

/**
 * Reads a duration of a zkCli option (`-timeout 5000`, `create -t 5000`), where a plain number is
 * milliseconds. Throws UsageError.
 */
export function parseZkcliDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  if (!match) {
    throw new UsageError(`bad duration '${text}'`, {
      reason: "bad-duration",
      hint: "use for example 1500ms, 10s, 5m or 1h",
    });
  }
  return Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? ""] ?? 1));
}

/** True for a session timeout that the protocol can carry: an int of milliseconds. */
export function isTimeout(ms: number): boolean {
  return Number.isInteger(ms) && ms > 0 && ms < 2 ** 31;
}

export const TIMEOUT_RANGE = "more than 0, less than 25 days";

/** Writes a duration in its shortest form: 90000 is `90s`, 1500 is `1500ms`. */
export function formatDuration(ms: number): string {
  const units = Object.entries(UNIT_MS).filter(
    ([unit, size]) => unit !== "" && ms > 0 && ms % size === 0,
  );
  const [unit, size] = units.at(-1) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
