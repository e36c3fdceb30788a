import type { GuardedChild } from "../../processes/child-requests.ts";

/** Processes that the program has left behind are mentioned after this time. */
const LEFTOVERS_AFTER_MS = 1_000;

/** Resolves when nothing of the program runs any more. */
export async function awaitProcessEnd(child: GuardedChild, mention: () => void): Promise<void> {
  const timer = setTimeout(mention, LEFTOVERS_AFTER_MS);
  await child.gone().finally(() => clearTimeout(timer));
}
