import { limitWait } from "../async/limit-wait.ts";
import { DeadlineError } from "../errors.ts";
import type { QueueMember } from "../recipes/locks/inspect/inspect-lock.ts";
import { askToYield, evict, untilGone } from "../recipes/locks/revoke.ts";
import type { Result } from "../results/result.ts";
import { formatDuration } from "../text/duration.ts";
import { duration, flag, option, required, word, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { afterForce, findTargets, nameAll, notAsked, notHeld, tooLate } from "./revoke-targets.ts";

export const revoke = defineCommand({
  details:
    "revoke asks the holder to release the lock: a zksh holder does so at once, a Curator " +
    "holder if its lock is revocable, " +
    "other holders never. --force deletes the holder's ticket instead, and the next waiter " +
    "holds the lock at once: zksh " +
    "then kills its command, other holders may keep running. --wait with --force asks first and " +
    "deletes after that time. " +
    "Exit code 1: the lock is free, or its holder cannot be asked; 7: not released in time. " +
    "--yes answers the question.",
  examples: [
    "revoke /deploy",
    "revoke --reason hotfix --wait 30s /deploy",
    "revoke --force /deploy",
  ],
  effect: "write",
  args: { path: required(znodePath, "the lock") },
  options: {
    node: option("", "name", word, "revoke only this ticket, of a holder or a waiter"),
    reason: option("", "text", word, "tell the holder why"),
    wait: option("-w", "dur", duration, "wait at most this long for the release"),
    force: flag("", "delete the holder's ticket"),
  },
  async confirm(context, { path }, { node, force, wait }) {
    const targets = await findTargets(context, path, node);
    if (targets.length === 0) return undefined;
    const who = nameAll(targets);
    const paths = [path];
    if (!force) return { text: `Ask ${who} to release ${path}?`, paths };
    const then = afterForce(targets);
    if (wait === undefined) return { text: `Take ${path} away from ${who}? ${then}`, paths };
    const time = formatDuration(wait);
    const text = `Ask ${who} to release ${path}, and take it away after ${time}? ${then}`;
    return { text, paths };
  },
  async *run(context, { path }, { node, reason, wait, force }): AsyncGenerator<Result> {
    const { signal, program } = context;
    const targets = await findTargets(context, path, node);
    if (targets.length === 0) throw notHeld(path, node);
    const request = {
      by: program.self.who,
      at: new Date().toISOString(),
      ...(reason !== undefined && { reason }),
    };
    const isAsked = !force || wait !== undefined;
    const asked: QueueMember[] = [];
    const unaskable: QueueMember[] = [];
    for (const holder of isAsked ? targets : []) {
      const answer = await askToYield(context.session(), holder, request, { signal });
      const mayNotListen = answer === "unsure";
      const event = mayNotListen ? "asked" : answer;
      if (event === "asked") asked.push(holder);
      if (event === "unaskable") unaskable.push(holder);
      if (event !== "unaskable" || !force) {
        yield { kind: "revocation", path, holder, event, ...(mayNotListen && { mayNotListen }) };
      }
    }
    const isGone = wait === undefined ? [] : await waitForAll(context, asked, request, wait);
    const left = asked.filter((_, index) => !isGone[index]);
    for (const holder of asked.filter((_, index) => isGone[index]))
      yield { kind: "revocation", path, holder, event: "released" };
    for (const holder of force ? (isAsked ? [...left, ...unaskable] : targets) : []) {
      const isThere = await evict(context.session(), holder, { signal });
      yield {
        kind: "revocation",
        path,
        holder,
        ...(isThere ? deleted(holder) : { event: "gone" }),
      };
    }
    if (force) return;
    if (wait !== undefined && left.length > 0) throw tooLate(path, [...left, ...unaskable], wait);
    if (unaskable.length > 0) throw notAsked(path, unaskable, targets.length);
  },
});

/** Resolves to true for each holder that released the lock in time. */
async function waitForAll(
  { session, signal }: Context,
  holders: readonly QueueMember[],
  request: object,
  ms: number,
): Promise<boolean[]> {
  const late = new DeadlineError("not released in time");
  const limit = limitWait(signal, ms, () => late);
  try {
    const waits = await Promise.allSettled(
      holders.map((holder) => untilGone(session(), holder, request, limit.signal)),
    );
    signal.throwIfAborted();
    const failed = waits.find((wait) => wait.status === "rejected" && limit.signal.reason !== late);
    if (failed?.status === "rejected") throw failed.reason;
    return waits.map(({ status }) => status === "fulfilled");
  } finally {
    limit.end();
  }
}

function deleted({ isOurs }: QueueMember): { event: "deleted"; mayRunOn: boolean } {
  return { event: "deleted", mayRunOn: !isOurs };
}
