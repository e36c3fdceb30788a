/**
 * Better messages for failed writes: the command knows the path and the version, the server's error
 * number does not tell them.
 */
import { ConflictError, NoNodeError, OperationError } from "../errors.ts";
import { parentPath } from "../session/path.ts";

/** Awaits `write`; a NoNode error names the parent that is missing. */
export function namingParent<T>(write: Promise<T>, path: string): Promise<T> {
  return write.catch((error: unknown) => {
    throw error instanceof NoNodeError ? missingParent(error, path) : error;
  });
}

function missingParent(
  { reason, code = -101, path = "", cause }: NoNodeError,
  wanted: string,
): NoNodeError {
  const message = `cannot create ${wanted}: its parent ${parentPath(wanted)} does not exist (NoNode)`;
  return new NoNodeError(reason, message, {
    code,
    path,
    cause,
    hint: "create -p creates missing parents too",
  });
}

/**
 * Awaits `write`; a BadVersion error names the expected version. The report adds the present one
 * (src/shell/reports/explain-refusal.ts).
 */
export function namingVersion<T>(
  write: Promise<T>,
  path: string,
  { version, of = "data" }: { readonly version?: number | undefined; readonly of?: "data" | "acl" },
): Promise<T> {
  if (version === undefined) return write;
  return write.catch((error: unknown) => {
    if (!(error instanceof ConflictError) || error.reason !== "bad-version") throw error;
    const what = of === "acl" ? `the ACL of ${path}` : path;
    const message = `${what} is not at version ${version} (BadVersion)`;
    const details = { expectedVersion: { of, version }, code: error.code ?? -103, path };
    throw new ConflictError(error.reason, message, { ...details, cause: error });
  });
}

/** Awaits `write`, a delete; the error for / says that / cannot be deleted. */
export function namingRoot<T>(write: Promise<T>, path: string): Promise<T> {
  if (path !== "/") return write;
  return write.catch((error: unknown) => {
    if (!(error instanceof OperationError) || error.reason !== "bad-arguments") throw error;
    throw new OperationError(error.reason, "/ cannot be deleted", {
      code: error.code ?? -8,
      path,
      cause: error,
    });
  });
}
