import { join } from "node:path";
import type { Environment } from "../processes/child-requests.ts";

/** Where what zksh remembers is kept: in XDG's state directory. Undefined without a home. */
export function stateDirectory({
  XDG_STATE_HOME: state,
  HOME: home,
}: Environment): string | undefined {
  // XDG: a relative path is to be ignored.
  if (state?.startsWith("/")) return join(state, "zksh");
  return home ? join(home, ".local/state/zksh") : undefined;
}
