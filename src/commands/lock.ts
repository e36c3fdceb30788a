import { UsageError } from "../errors.ts";
import { MultiLock } from "../recipes/locks/multi-lock.ts";
import { Mutex } from "../recipes/locks/mutex.ts";
import { UniqueLock } from "../recipes/locks/unique-lock.ts";
import { option, programToRun, rest, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import type { LockKind } from "./under-lock/lock-kind.ts";
import { compatOption, guardOptions, lockPath, waitOptions } from "./under-lock/options.ts";
import { lockInShell, ownLocks } from "./under-lock/shell-lock.ts";
import { underLock } from "./under-lock/under-lock.ts";

const recipe: ValueParser<"queue" | "unique"> = (text) => {
  if (text === "queue" || text === "unique") return text;
  throw new UsageError(`unknown recipe '${text}'`, {
    hint: "use queue (fair, the default) or unique (one well-known znode)",
  });
};

export const lock = defineCommand({
  details:
    "First come, first served; several paths are taken all together or not at all. Without a " +
    "command the lock is held until " +
    "stdin ends, in the shell until unlock. In the shell, lock alone lists the locks held. " +
    "--recipe unique is for paths " +
    "that other programs lock by creating one well-known znode; it is not fair.",
  examples: [
    "lock /deploy -- echo deployed",
    "lock -n /jobs/nightly -- echo running",
    "lock -w 30s --why 'release 42' /deploy -- echo deployed",
    "lock /db/main /db/replica -- echo both",
  ],
  effect: "write",
  args: {
    paths: rest(lockPath, "the locks; a missing path is created"),
    program: programToRun("the command and its arguments, run without a shell"),
  },
  options: {
    ...waitOptions,
    ...compatOption,
    recipe: option("", "name", recipe, "queue (fair, the default) or unique (see below)"),
    ...guardOptions,
  },
  run(context, { paths, program }, options) {
    const [first, ...others] = paths;
    if (first === undefined && program.length === 0 && !context.shell.isOneShot)
      return ownLocks(context);
    if (first === undefined)
      throw new UsageError("no path given", { hint: "lock PATH... [-- COMMAND...]" });
    const taken = toRecipe([first, ...others], options.recipe);
    if (program.length === 0 && !context.shell.isOneShot)
      return lockInShell(context, taken, options);
    return underLock(context, taken, options, program);
  },
});

function toRecipe(paths: LockKind["paths"], name: "queue" | "unique" = "queue"): LockKind {
  const [path, ...others] = paths;
  const kind = { paths, mode: "exclusive" } as const;
  if (name === "unique") {
    if (others.length > 0) throw new UsageError("--recipe unique takes only one path");
    const lock: LockKind["lock"] = (session, options) => new UniqueLock(session, path, options);
    return { ...kind, layout: "unique", lock };
  }
  const layout = "queue";
  if (others.length === 0)
    return { ...kind, layout, lock: (session, options) => new Mutex(session, path, options) };
  return {
    ...kind,
    layout,
    only: (some) => toRecipe(some),
    lock: (session, options) => new MultiLock(session, paths, options),
  };
}
