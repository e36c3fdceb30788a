/** Checks --min-hold and --max-hold, before anything is queued. */
import { UsageError } from "../../errors.ts";
import { formatDuration } from "../../text/duration.ts";
import type { GuardValues } from "./options.ts";

/** Throws UsageError for limits of holding the lock that cannot be kept. */
export function mustFitHold({ minHold, maxHold, reentrant }: GuardValues): void {
  if (maxHold === undefined) return;
  if (maxHold === 0) throw new UsageError("--max-hold 0 leaves no time to hold the lock");
  if (minHold !== undefined && minHold > maxHold)
    throw new UsageError(
      `--min-hold ${formatDuration(minHold)} is longer than --max-hold ${formatDuration(maxHold)}`,
    );
  if (reentrant)
    throw new UsageError("--max-hold cannot be combined with --reentrant", {
      hint: "where the command around this one holds the lock, its own --max-hold limits it",
    });
}
