import { setTimeout as pause } from "node:timers/promises";
import { ConnectionError, UsageError } from "../errors.ts";
import { LockExitCode } from "../exit-codes.ts";
import { Election } from "../recipes/locks/election.ts";
import type { Result } from "../results/result.ts";
import { flag, option, programToRun, required, word } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import type { LockKind } from "./under-lock/lock-kind.ts";
import { guardOptions, type LockValues, lockPath, waitOptions } from "./under-lock/options.ts";
import { lockInShell } from "./under-lock/shell-lock.ts";
import { underLock } from "./under-lock/under-lock.ts";

const REJOIN_AFTER_MS = 1_000;

export const elect = defineCommand({
  details:
    "The command is stopped when the leadership can no longer be proved. --leader ends with 1 " +
    "if there is no leader. More " +
    "options and the exit codes: help locks.",
  examples: ["elect /scheduler -- echo leading", "elect --leader /scheduler"],
  effect: "write",
  args: {
    path: required(lockPath, "the election; a missing path is created"),
    program: programToRun("the command and its arguments, run without a shell"),
  },
  options: {
    observe: flag("", "print the leader, and again at each change"),
    leader: flag("", "print the leader"),
    id: option("", "text", word, "the name of this candidate, shown to others"),
    rejoin: flag("", "join the election again after losing the leadership"),
    ...waitOptions,
    ...guardOptions,
  },
  run(context, { path, program }, { observe, leader, id, rejoin, ...values }) {
    if (observe || leader) {
      if (program.length > 0 || (observe && leader))
        throw new UsageError(
          "--observe and --leader cannot be combined with each other or with a command",
        );
      return observe ? observeLeaders(context, path) : presentLeader(context, path);
    }
    const recipe: LockKind = {
      paths: [path],
      mode: "leader",
      layout: "queue",
      lock: (session, options) =>
        new Election(session, path, { ...options, ...(id !== undefined && { id }) }),
      ...(id !== undefined && { environment: { ZK_ELECT_ID: id } }),
    };
    if (program.length === 0 && !context.shell.isOneShot)
      return lockInShell(context, recipe, values);
    return rejoin
      ? again(context, recipe, values, program)
      : underLock(context, recipe, values, program);
  },
});

async function* presentLeader({ shell, signal }: Context, path: string): AsyncGenerator<Result> {
  const leader = await new Election(await shell.session(), path).leader({ signal });
  yield { kind: "leader", path, isStream: false, ...(leader && { leader }) };
}

/** Goes on in a new session when one expires. */
async function* observeLeaders({ shell, signal }: Context, path: string): AsyncGenerator<Result> {
  for (let hasBegun = false; ; ) {
    try {
      for await (const leader of new Election(await shell.session(), path).observe(signal)) {
        hasBegun = true;
        yield { kind: "leader", path, isStream: true, ...(leader && { leader }) };
      }
      throw signal.reason;
    } catch (error) {
      if (signal.aborted || !hasBegun || !(error instanceof ConnectionError)) throw error;
    }
    await pause(REJOIN_AFTER_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Joins the election again after a lost leadership. Once this process has led, servers that cannot
 * be reached do not end it either.
 */
async function* again(
  context: Context,
  recipe: LockKind,
  values: LockValues,
  program: readonly string[],
): AsyncGenerator<Result> {
  for (let hasLed = false; ; ) {
    try {
      for await (const result of underLock(context, recipe, values, program)) {
        if (result.kind === "lock-ended" && result.exitCode === LockExitCode.lost) hasLed = true;
        else yield result;
        if (result.kind === "lock-ended" && result.exitCode !== LockExitCode.lost) return;
      }
    } catch (error) {
      if (!hasLed || !(error instanceof ConnectionError)) throw error;
    }
    await pause(REJOIN_AFTER_MS, undefined, { signal: context.signal }).catch(() => {});
    context.signal.throwIfAborted();
  }
}
