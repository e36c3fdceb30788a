import type {
  Environment,
  GuardedChild,
  GuardRequest,
} from "../../src/processes/child-requests.ts";
import { prepareGuard } from "../../src/processes/guarded-child.ts";

/** Prepares and starts a guarded program; nothing is left of it where that fails. */
export async function startGuarded(
  request: GuardRequest,
  environment: Environment,
): Promise<GuardedChild> {
  const preparation = await prepareGuard(environment, { savesTerminal: true });
  try {
    return await preparation.start(request);
  } catch (error) {
    preparation.dispose();
    throw error;
  }
}
