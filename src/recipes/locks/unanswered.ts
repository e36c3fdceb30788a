/** Requests whose answer never came, while the session goes on. */
import { ConnectionError } from "../../errors.ts";

/** It may have been carried out or not (or, with `session-moved`, was not): whoever needs to know has to look. */
export function isFateUnknown(error: unknown): boolean {
  return error instanceof ConnectionError && REASONS.has(error.reason);
}

const REASONS: ReadonlySet<string> = new Set(["connection-loss", "malformed-reply", "session-moved"]);

/** A large request that broke this many connections is what breaks them. */
const MAX_LOSSES = 3;

/** Whether it makes no sense to repeat a request whose answer was lost for so many times. */
export function isHopeless(error: unknown, losses: number): boolean {
  return error instanceof ConnectionError && error.isOversized && losses >= MAX_LOSSES;
}

/**
 * Asks until a server answers, for what may be asked twice. Every round waits for a connection of its own, and the
 * session's clock ends them all. The first question leaves in this very turn.
 */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isFateUnknown(error)) throw error;
    }
  }
}
