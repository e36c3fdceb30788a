import { UsageError } from "../../errors.ts";
import { isProtectedPath, SYSTEM_PATH } from "../../session/system-path.ts";

/** Throws UsageError for a path that no recipe may use. `use` says what for: `be locked`. */
export function refuseProtectedPath(path: string, use: string, hint: string): void {
  if (!isProtectedPath(path)) return;
  const why = path === "/" ? `/ cannot ${use}` : `${SYSTEM_PATH} belongs to the server`;
  throw new UsageError(why, { hint });
}
