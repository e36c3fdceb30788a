import { onTestFinished } from "vitest";

/**
 * Takes the test runner's place, which would fail for them: what nobody has caught goes to the list
 * until the test is over.
 */
export function collectUncaught(
  event: "uncaughtException" | "unhandledRejection" = "uncaughtException",
): unknown[] {
  const uncaught: unknown[] = [];
  const usual = process.rawListeners(event);
  process.removeAllListeners(event);
  process.on(event, (error: unknown) => uncaught.push(error));
  onTestFinished(() => {
    process.removeAllListeners(event);
    for (const listener of usual) process.on(event, listener as () => void);
  });
  return uncaught;
}
