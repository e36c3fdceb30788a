import { onTestFinished } from "vitest";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { SessionOptions } from "../../src/session/options.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";

/** A session that is closed when the test ends. */
export function openFor(connectString: string, options: Partial<SessionOptions> = {}): Session {
  const session = openSession({
    ...parseConnectString(connectString),
    timeoutMs: 10_000,
    ...options,
  });
  onTestFinished(() => session.close());
  return session;
}

/** What a promise was rejected with; fails when it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) return outcome.error;
  throw new Error(`resolved with ${String(outcome.value)}`);
}
