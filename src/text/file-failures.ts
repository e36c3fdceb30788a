/** Why a file could not be used, in words. */

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ENOSPC: "no space left on the device",
};

/** `cannot read /nope: no such file`; `name` is how the file is shown. */
export function cannotRead(name: string, cause: unknown): string {
  return `cannot read ${name}: ${reasonOf(cause)}`;
}

/** As {@link cannotRead}. */
export function cannotWrite(name: string, cause: unknown): string {
  return `cannot write ${name}: ${reasonOf(cause)}`;
}

function reasonOf(cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  return FILE_ERRORS[/^E[A-Z]+/.exec(why)?.[0] ?? ""] ?? why;
}
