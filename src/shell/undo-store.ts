import { UndoStore } from "../commands/undo/undo-store.ts";
import type { Settings } from "../config/settings.ts";
import { PrivateFolder } from "../io/private-folder.ts";
import { stateDirectory } from "../io/state-directory.ts";
import type { Environment } from "../processes/child-requests.ts";

const USUAL_LIMIT = 64 * 1024 * 1024;

/** Undefined without a home directory, and where the settings file turns undo off. */
export function undoStoreOf(env: Environment, { habits }: Settings): UndoStore | undefined {
  const directory = stateDirectory(env);
  const limit = habits.undo ?? USUAL_LIMIT;
  if (directory === undefined || limit === 0) return undefined;
  return new UndoStore(new PrivateFolder(`${directory}/undo`), limit);
}
