import { describe, expect, test } from "vitest";
import {
  ConflictError,
  ConnectionError,
  DeadlineError,
  InterruptedError,
  LockError,
  type LockErrorReason,
  NoNodeError,
  OperationError,
  PartialError,
  PermissionError,
  RefusedError,
  UsageError,
} from "../src/errors.ts";
import { ChosenCodeError, exitCodeOf, lockExitCodeOf } from "../src/exit-codes.ts";
import { UnclosedQuoteError } from "../src/shell/parsing/script-text.ts";

const LOCK_CODES: Readonly<Record<LockErrorReason, number>> = {
  busy: 75,
  "lock-timeout": 124,
  "lock-lost": 120,
  revoked: 121,
  "sequence-exhausted": 125,
  "limit-mismatch": 125,
  "nested-lock": 125,
  "already-run": 0,
  "attempts-used-up": 1,
  "command-not-executable": 126,
  "command-not-found": 127,
};

describe("an error ends", () => {
  test.each([
    { error: new OperationError("unimplemented", ""), code: 1, underLock: 123 },
    { error: new UsageError(""), code: 2, underLock: 125 },
    { error: new UnclosedQuoteError("'", 1, 1), code: 2, underLock: 125 },
    { error: new NoNodeError("no-node", ""), code: 3, underLock: 123 },
    { error: new PermissionError("no-auth", ""), code: 4, underLock: 123 },
    { error: new ConflictError("bad-version", ""), code: 5, underLock: 123 },
    { error: new ConnectionError("unreachable", ""), code: 6, underLock: 123 },
    { error: new DeadlineError(""), code: 7, underLock: 123 },
    { error: new PartialError("partial", ""), code: 8, underLock: 123 },
    { error: new RefusedError("read-only", ""), code: 9, underLock: 125 },
    { error: new TypeError(""), code: 70, underLock: 70 },
  ])("a command with $code, a program's lock with $underLock: $error.name", (row) => {
    expect([exitCodeOf(row.error), lockExitCodeOf(row.error)]).toEqual([row.code, row.underLock]);
  });

  test.each(Object.entries(LOCK_CODES))("a lock that is %s with %i", (reason, code) => {
    const error = new LockError(reason as LockErrorReason, "");
    expect([exitCodeOf(error), lockExitCodeOf(error)]).toEqual([code, code]);
  });

  test("a lock that was not got with the code that the user chose", () => {
    const error = new ChosenCodeError("busy", "", { exitCode: 9 });
    expect([exitCodeOf(error), lockExitCodeOf(error)]).toEqual([9, 9]);
  });

  test.each([
    { signal: undefined, code: 130 },
    { signal: "SIGINT", code: 130 },
    { signal: "SIGTERM", code: 143 },
    { signal: "SIGHUP", code: 129 },
    { signal: "SIGQUIT", code: 131 },
  ] as const)("a command with $code: $signal, also as the cause of another error", (row) => {
    const { signal, code } = row;
    const error = new InterruptedError(undefined, signal && { signal });
    const outer = new InterruptedError("after 3 lines", { cause: error });
    expect([exitCodeOf(error), lockExitCodeOf(error), exitCodeOf(outer)]).toEqual([
      code,
      code,
      code,
    ]);
  });
});
