import { UsageError } from "../errors.ts";
import { ReadWriteLock } from "../recipes/locks/read-write-lock.ts";
import { programToRun, required, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import type { LockKind } from "./under-lock/lock-kind.ts";
import { compatOption, guardOptions, lockPath, waitOptions } from "./under-lock/options.ts";
import { lockInShell } from "./under-lock/shell-lock.ts";
import { underLock } from "./under-lock/under-lock.ts";

const side: ValueParser<"read" | "write"> = (text) => {
  if (text === "read" || text === "write") return text;
  throw new UsageError(`expected read or write, got '${text}'`, {
    hint: "use rwlock read PATH or rwlock write PATH",
  });
};

export const rwlock = defineCommand({
  details:
    "Any number of readers hold the lock together; a writer holds it alone. The lock is granted " +
    "first come, first served: " +
    "readers that come after a waiting writer wait behind it. More options and the exit codes: " +
    "help locks.",
  examples: ["rwlock read /db -- echo dumping", "rwlock write /db -- echo migrating"],
  effect: "write",
  args: {
    side: required(side, "read (shared) or write (exclusive)"),
    path: required(lockPath, "the lock; a missing path is created"),
    program: programToRun("the command and its arguments, run without a shell"),
  },
  options: { ...waitOptions, ...compatOption, ...guardOptions },
  run(context, { side: wanted, path, program }, options) {
    const recipe: LockKind = {
      paths: [path],
      mode: wanted,
      layout: "queue",
      lock: (session, lockOptions) => new ReadWriteLock(session, path, lockOptions)[wanted],
    };
    if (program.length === 0 && !context.shell.isOneShot)
      return lockInShell(context, recipe, options);
    return underLock(context, recipe, options, program);
  },
});
