import { UsageError } from "../errors.ts";
import { Semaphore } from "../recipes/locks/semaphore.ts";
import { flag, option, programToRun, required, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import type { LockKind } from "./under-lock/lock-kind.ts";
import { guardOptions, lockPath, waitOptions } from "./under-lock/options.ts";
import { lockInShell } from "./under-lock/shell-lock.ts";
import { underLock } from "./under-lock/under-lock.ts";

const permits: ValueParser<number> = (text) => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`bad number of permits '${text}'`, { hint: "use a whole number from 1 on" });
};

export const sem = defineCommand({
  details:
    "A semaphore has --limit permits, granted first come, first served; -k permits are taken " +
    "all together or not at all. " +
    "The limit is stored at the path, and a contender with another limit is refused. More " +
    "options and the exit codes: " +
    "help locks.",
  examples: [
    "sem --limit 3 /backup -- echo running",
    "sem --limit 4 -k 2 /build -- echo two of four",
  ],
  effect: "write",
  args: {
    path: required(lockPath, "the semaphore; a missing path is created"),
    program: programToRun("the command and its arguments, run without a shell"),
  },
  options: {
    limit: option("-N", "n", permits, "the number of permits (required)"),
    count: option("-k", "k", permits, "take this many permits (default 1)"),
    setLimit: flag("", "replace the limit stored at the path"),
    ...waitOptions,
    ...guardOptions,
  },
  run(context, { path, program }, { limit, count = 1, setLimit, ...values }) {
    if (limit === undefined)
      throw new UsageError("sem needs --limit", { hint: "sem --limit 3 PATH [-- COMMAND...]" });
    if (count > limit) throw new UsageError(`cannot take ${count} permits: the limit is ${limit}`);
    const recipe: LockKind = {
      paths: [path],
      mode: "semaphore",
      layout: "permits",
      lock: (session, options) =>
        new Semaphore(session, path, { ...options, limit, count, setLimit }),
      environment: { ZK_SEM_LIMIT: String(limit), ZK_SEM_COUNT: String(count) },
    };
    if (program.length === 0 && !context.shell.isOneShot)
      return lockInShell(context, recipe, values);
    return underLock(context, recipe, values, program);
  },
});
