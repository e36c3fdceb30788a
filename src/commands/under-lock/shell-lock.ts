/** `lock PATH` at the prompt and in scripts: held by the shell's own session until `unlock`, or until the shell ends. */
import { LockError, UsageError } from "../../errors.ts";
import type { HeldLock } from "../../recipes/locks/held-lock.ts";
import { describeRequest } from "../../recipes/locks/holder-record.ts";
import type { Result } from "../../result.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { Context } from "../command.ts";
import { Channel } from "./channel.ts";
import { Conflict } from "./conflict.ts";
import { covers } from "./nested.ts";
import { acquireLimits, type LockValues, lockOptions } from "./options.ts";
import type { Recipe } from "./recipe.ts";

export async function* lockInShell(context: Context, recipe: Recipe, values: LockValues): AsyncGenerator<Result> {
  const { shell } = context;
  const [path, ...others] = recipe.paths;
  if (others.length > 0) throw new UsageError("in the shell lock takes one path at a time");
  const held = shell.heldLocks.get(path);
  if (held) {
    if (!covers(held.mode, recipe.mode)) throw notEnough(held, recipe);
    held.again();
    yield locked(held);
    return;
  }
  const results = new Channel<Result>();
  const work = acquire(context, recipe, values, (result) => results.push(result)).finally(() => results.close());
  work.catch(() => {});
  yield* results;
  const lock = await work;
  shell.heldLocks.set(path, lock);
  lock.signal.addEventListener("abort", () => lost(context, lock), { once: true });
  lock.onRevoke((request) => {
    if (values.onRevoke !== "ignore") return shell.giveWay(lock, request);
    shell.say(`${describeRequest(path, request)}: unlock ${path} gives it back`);
  });
  yield locked(lock);
}

function notEnough({ path, mode }: HeldLock, recipe: Recipe): LockError {
  return new LockError("nested-lock", `this shell holds ${path} as ${mode}, which cannot become ${recipe.mode}`, {
    path,
    hint: `unlock ${path} first`,
  });
}

async function acquire(
  context: Context,
  recipe: Recipe,
  values: LockValues,
  emit: (result: Result) => void,
): Promise<HeldLock> {
  const session = await context.shell.session();
  const givesUpAt = values.wait === undefined ? {} : { givesUpAt: Date.now() + values.wait };
  const conflict = new Conflict();
  const onEvent = (progress: LockProgress) => {
    conflict.listen(progress);
    emit({ kind: "lock-progress", progress, at: Date.now(), ...givesUpAt });
  };
  const options = { ...lockOptions(context, values), onEvent };
  const { signal, isFollowed } = context;
  const limits = acquireLimits(values, { begun: performance.now(), isWatched: isFollowed, signal });
  const acquiring = recipe.acquire(session, options, limits).catch((error: unknown) => {
    throw conflict.inFull(error, recipe, values);
  });
  const [lock] = (await acquiring).locks;
  if (!lock) throw new Error("nothing was locked");
  return lock;
}

function lost({ shell }: Context, lock: HeldLock): void {
  const error: LockError = lock.signal.reason;
  shell.lockLost(lock.path, error);
}

function locked(lock: HeldLock): Result {
  const { path, nodePath, fencingToken, count } = lock;
  return { kind: "locked", path, node: nodePath, token: fencingToken, count };
}
