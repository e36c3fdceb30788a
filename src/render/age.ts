import type { Party } from "../recipes/locks/holder-record.ts";

/** `850ms`, `12s`, `3m12s`, `5h03m`, `12d4h`. */
export function age(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = Math.floor(ms / 1_000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600),
    Math.floor(seconds / 60),
  ];
  const two = (value: number) => String(value).padStart(2, "0");
  if (days > 0) return `${days}d${hours % 24}h`;
  if (hours > 0) return `${hours}h${two(minutes % 60)}m`;
  return minutes > 0 ? `${minutes}m${two(seconds % 60)}s` : `${seconds}s`;
}

/** `3s ago`: to the second, because clocks of different machines are compared. */
export function ago(ms: number): string {
  if (ms < 0) return "in the future";
  return `${ms < 1_000 ? "0s" : age(ms)} ago`;
}

/** Since when a party holds a lock; where it has not said so, since when it has queued. */
export function heldSince({ acquiredAt, queuedAt }: Party): number {
  return acquiredAt ?? queuedAt;
}
