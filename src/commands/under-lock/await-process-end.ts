import type { GuardedChild } from "../../processes/child-requests.ts";

/** After this time a message names the processes that outlive the program. */
const LEFTOVERS_AFTER_MS = 1_000;

/** Resolves when the program and all processes it started have ended. */
export async function awaitProcessEnd(child: GuardedChild, mention: () => void): Promise<void> {
  const timer = setTimeout(mention, LEFTOVERS_AFTER_MS);
  await child.gone().finally(() => clearTimeout(timer));
}
