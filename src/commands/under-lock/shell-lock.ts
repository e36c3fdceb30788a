/**
 * `lock PATH...` at the prompt and in scripts: the shell's session holds the lock until `unlock` or
 * until the shell ends.
 */

import { Channel } from "../../async/channel.ts";
import { LockError, UsageError } from "../../errors.ts";
import type { HeldLock } from "../../recipes/locks/held-lock.ts";
import { describeRequest } from "../../recipes/locks/holder-record.ts";
import type { Result } from "../../results/result.ts";
import type { Context } from "../command.ts";
import type { LockKind } from "./lock-kind.ts";
import { LockStory } from "./lock-story.ts";
import { covers } from "./nested.ts";
import { acquireLimits, type LockValues } from "./options.ts";
import { lockOptions } from "./ticket-options.ts";

export async function* lockInShell(
  context: Context,
  recipe: LockKind,
  values: LockValues,
): AsyncGenerator<Result> {
  if (values.maxHold !== undefined)
    throw new UsageError("--max-hold needs a command here: the shell holds a lock until unlock", {
      hint: "lock --max-hold 1h /deploy -- COMMAND",
    });
  const { heldLocks } = context.shell;
  const held = recipe.paths.flatMap((path) => heldLocks.get(path) ?? []);
  for (const lock of held) if (!covers(lock.mode, recipe.mode)) throw notEnough(lock, recipe);
  const [first, ...others] = recipe.paths.filter((path) => !heldLocks.has(path));
  if (first !== undefined) {
    const missing = held.length === 0 ? recipe : (recipe.only?.([first, ...others]) ?? recipe);
    const results = new Channel<Result>();
    const work = acquire(context, missing, values, (result) => results.push(result)).finally(() =>
      results.close(),
    );
    work.catch(() => {});
    yield* results;
    for (const lock of await work) {
      keep(context, lock, values);
      yield locked(lock);
    }
  }
  for (const lock of held) {
    lock.again();
    yield locked(lock);
  }
}

/** `lock` without arguments: the locks that this shell holds. */
export async function* ownLocks({ shell }: Context): AsyncGenerator<Result> {
  const locks = [...shell.heldLocks.values()].map(
    ({ path, mode, fencingToken: token, count, acquiredAt: since }) => ({
      path,
      mode,
      token,
      count,
      since,
    }),
  );
  yield { kind: "own-locks", locks };
}

function keep(context: Context, lock: HeldLock, { onRevoke }: LockValues): void {
  const { shell } = context;
  const { path } = lock;
  shell.heldLocks.set(path, lock);
  lock.signal.addEventListener("abort", () => lost(context, lock), { once: true });
  lock.onRevoke((request) => {
    if (onRevoke !== "ignore") return shell.releaseRevoked(lock, request);
    shell.notify(`${describeRequest(path, request)}: unlock ${path} releases it`);
  });
}

function notEnough({ path, mode }: HeldLock, recipe: LockKind): LockError {
  return new LockError(
    "nested-lock",
    `this shell holds ${path} as ${mode}, which cannot be changed to ${recipe.mode}`,
    {
      path,
      hint: `unlock ${path} first`,
    },
  );
}

async function acquire(
  context: Context,
  recipe: LockKind,
  values: LockValues,
  emit: (result: Result) => void,
): Promise<readonly HeldLock[]> {
  const session = await context.shell.session();
  const story = new LockStory({ recipe, values, emit });
  const options = { ...lockOptions(context, values), onEvent: story.tell };
  const { signal, output } = context;
  const isWatched = output.isFollowed || values.explain;
  const limits = acquireLimits(values, { begun: performance.now(), isWatched, signal });
  const stopFollowing = story.follow(session);
  try {
    return (await recipe.lock(session, options).acquire(limits)).locks;
  } catch (error) {
    throw story.conflict.inFull(error, recipe, values);
  } finally {
    stopFollowing();
  }
}

function lost({ shell }: Context, lock: HeldLock): void {
  const error: LockError = lock.signal.reason;
  shell.lockLost(lock.path, error);
}

function locked(lock: HeldLock): Result {
  const { path, nodePath, fencingToken, count, mode } = lock;
  return { kind: "locked", path, node: nodePath, token: fencingToken, count, mode };
}
