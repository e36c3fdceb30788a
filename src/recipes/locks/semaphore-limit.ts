/** How many permits a semaphore has, as its path's data tells. Curator records nothing. */
import { LockError } from "../../errors.ts";

export interface RecordedLimit {
  readonly limit: number;
  readonly by: "zksh" | "kazoo";
}

export function encodeLimit(limit: number): Buffer {
  return Buffer.from(JSON.stringify({ v: 1, limit }));
}

/**
 * Any client that may write to the path may have written it: longer data is not a limit, and is not
 * parsed.
 */
const MAX_BYTES = 1024;

/** Undefined where none is recorded. */
export function recordedLimit(data: Buffer | null): RecordedLimit | undefined {
  if (data === null || data.length > MAX_BYTES) return undefined;
  const text = data.toString();
  if (/^\d+$/.test(text))
    return Number.isSafeInteger(Number(text)) ? { limit: Number(text), by: "kazoo" } : undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isRecord =
      typeof value === "object" && value !== null && "limit" in value && "v" in value;
    return isRecord && isCount(value.limit) ? { limit: value.limit, by: "zksh" } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Whether `limit` has to be written to the path, which has `data`. Throws LockError where another
 * limit is recorded there and
 * `mayChange` is false, or where the path is a semaphore of kazoo's.
 */
export function mustRecordLimit(
  data: Buffer | null,
  { path, limit }: { readonly path: string; readonly limit: number },
  mayChange: boolean,
): boolean {
  const recorded = recordedLimit(data);
  if (recorded === undefined) return mayChange && !data?.length;
  if (recorded.by === "kazoo") {
    throw new LockError(
      "limit-mismatch",
      `${path} is a kazoo semaphore (${recorded.limit} leases)`,
      {
        path,
        hint: "zksh and kazoo semaphores cannot share a path: choose another path",
      },
    );
  }
  if (recorded.limit === limit) return false;
  if (mayChange) return true;
  const permits = recorded.limit === 1 ? "1 permit" : `${recorded.limit} permits`;
  throw new LockError("limit-mismatch", `${path} has ${permits}, not ${limit}`, {
    path,
    recordedLimit: recorded.limit,
  });
}
