import { LockError } from "../errors.ts";

/** The error codes of a process that cannot be started, in words, with a hint where there is one. */
const REASONS: Readonly<Record<string, readonly [why: string, hint?: string]>> = {
  EMFILE: ["too many open files", "ulimit -n shows how many zksh may have; it needs about 30"],
  ENFILE: ["too many open files on this machine"],
  EAGAIN: [
    "too many processes",
    "ulimit -u shows how many processes and threads this user may have; zksh needs about 25 of " +
      "them",
  ],
  ENOMEM: ["not enough memory"],
  E2BIG: ["its arguments and environment are too long"],
  ENOENT: ["no such program"],
  EACCES: ["not executable"],
};

/**
 * The error of a command that cannot be started: exit code 126, or 127 when there is no such
 * program.
 */
export function startFailure(what: string, cause: unknown): LockError {
  if (cause instanceof LockError) return cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const message = cause instanceof Error ? cause.message : String(cause);
  const [why, hint] = REASONS[code] ?? [message];
  return new LockError("command-not-executable", `cannot start ${what}: ${why}`, {
    cause,
    ...(hint !== undefined && { hint }),
  });
}
