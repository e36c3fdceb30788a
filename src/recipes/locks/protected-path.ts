import { UsageError } from "../../errors.ts";

/**
 * Throws UsageError for what no recipe can have for itself; `inVain` is what the root cannot do.
 */
export function refuseProtectedPath(path: string, inVain: string, hint: string): void {
  if (path === "/") throw new UsageError(`/ cannot ${inVain}`, { hint });
  if (path === "/zookeeper" || path.startsWith("/zookeeper/")) {
    throw new UsageError("/zookeeper belongs to the server", { hint });
  }
}
