/** How many permits a semaphore has, as its path's data tells. Curator records nothing. */

export interface RecordedLimit {
  readonly limit: number;
  readonly by: "zksh" | "kazoo";
}

export function encodeLimit(limit: number): Buffer {
  return Buffer.from(JSON.stringify({ v: 1, limit }));
}

/** Undefined where none is recorded. */
export function recordedLimit(data: Buffer | null): RecordedLimit | undefined {
  const text = data?.toString() ?? "";
  if (/^\d+$/.test(text)) return { limit: Number(text), by: "kazoo" };
  try {
    const value: unknown = JSON.parse(text);
    const isRecord = typeof value === "object" && value !== null && "limit" in value && "v" in value;
    return isRecord && Number.isInteger(value.limit) ? { limit: Number(value.limit), by: "zksh" } : undefined;
  } catch {
    return undefined;
  }
}
