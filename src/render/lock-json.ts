/** Locks as JSON: one object an event; names with underscores, as other tools' events have them. */
import type { Party } from "../recipes/locks/holder-record.ts";
import type { LockProgressResult, OwnLock } from "../results/locks.ts";
import { hexId } from "../text/hex-id.ts";
import { explained } from "./lock-explain.ts";
import { isoTime } from "./stat.ts";

export function jsonLockProgress(result: LockProgressResult): Record<string, unknown> {
  const { progress, at, givesUpAt, explain } = result;
  const steps = explain ? explained(result, at) : [];
  return {
    ...jsonEvent({ progress, at }),
    ...(progress.event === "waiting" &&
      givesUpAt !== undefined && { givesUpAt: isoTime(givesUpAt) }),
    ...(steps.length > 0 && { explain: steps }),
  };
}

/** An event with all its facts. */
function jsonEvent({
  progress,
  at,
}: Pick<LockProgressResult, "progress" | "at">): Record<string, unknown> {
  const { event, ...rest } = progress;
  const facts = Object.entries(rest).filter(([key]) => key !== "waiting");
  return {
    event: event.replaceAll("-", "_"),
    at: isoTime(at),
    ...Object.fromEntries(facts.map(([key, value]) => [key, jsonFact(key, value)])),
  };
}

function jsonFact(key: string, value: unknown): unknown {
  if (key === "holder" || key === "aheadBy") return jsonParty(value as Party);
  if (key === "holders" || key === "waiters") return (value as readonly Party[]).map(jsonParty);
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" && key.endsWith("Ms") ? Math.round(value) : value;
}

export function jsonParty({
  session,
  token,
  queuedAt,
  acquiredAt,
  ...rest
}: Party): Record<string, unknown> {
  return {
    ...rest,
    session: hexId(session),
    token: String(token),
    queuedAt: isoTime(queuedAt),
    ...(acquiredAt !== undefined && { acquiredAt: isoTime(acquiredAt) }),
  };
}

export function jsonOwnLock({ token, since, ...lock }: OwnLock): Record<string, unknown> {
  return { ...lock, token: String(token), since: isoTime(since) };
}
