import { UsageError } from "../errors.ts";
import { Semaphore } from "../recipes/locks/semaphore.ts";
import { flag, option, programToRun, required, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { oneLock } from "./under-lock/lock-kind.ts";
import { guardOptions, lockPath, waitOptions } from "./under-lock/options.ts";
import { lockInShell } from "./under-lock/shell-lock.ts";
import { underLock } from "./under-lock/under-lock.ts";

const permits: ValueParser<number> = (text) => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`bad number of permits '${text}'`, { hint: "a whole number from 1 on" });
};

export const sem = defineCommand({
  details:
    "At most so many at once, first come first served. The limit is recorded with the path: whoever comes with another " +
    "one is refused. Several permits: all or none. More options and the exit codes: help locks.",
  examples: [
    "sem --limit 3 /backup -- echo running",
    "sem --limit 4 -k 2 /build -- echo two of four",
  ],
  effect: "write",
  args: {
    path: required(lockPath, "the semaphore; made when missing"),
    program: programToRun("what to run, with its arguments; no shell"),
  },
  options: {
    limit: option("-N", "n", permits, "how many permits there are (needed)"),
    count: option("-k", "k", permits, "how many are wanted [1]"),
    setLimit: flag("", "record this limit in place of another"),
    ...waitOptions,
    ...guardOptions,
  },
  run(context, { path, program }, { limit, count = 1, setLimit, ...values }) {
    if (limit === undefined)
      throw new UsageError("no limit given", { hint: "sem --limit 3 PATH [-- COMMAND...]" });
    if (count > limit) throw new UsageError(`cannot take ${count} permits: the limit is ${limit}`);
    const recipe = oneLock(
      path,
      "semaphore",
      (session, options) => new Semaphore(session, path, { ...options, limit, count, setLimit }),
      {
        environment: { ZK_SEM_LIMIT: String(limit), ZK_SEM_COUNT: String(count) },
        layout: "permits",
      },
    );
    if (program.length === 0 && !context.isOneShot) return lockInShell(context, recipe, values);
    return underLock(context, recipe, values, program);
  },
});
