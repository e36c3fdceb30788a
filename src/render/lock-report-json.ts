/** Queues as objects: ids as 0x strings, tokens as decimal strings because they use more than 53 bits, times as ISO 8601. */
import type { Deadlock } from "../recipes/locks/deadlocks.ts";
import type { LockReport, Standing } from "../recipes/locks/inspect.ts";
import type { RevocationResult } from "../results/lock-reports.ts";
import { jsonParty } from "./lock.ts";

export function jsonLock({ path, exists, layouts, limit, holders, waiters, strangers }: LockReport): object {
  return {
    path,
    state: holders.length > 0 ? "held" : "free",
    exists,
    layouts,
    ...(limit !== undefined && { limit }),
    holders: holders.map(jsonStanding),
    waiters: waiters.map((waiter, index) => ({ position: index + 1, ...jsonStanding(waiter) })),
    strangers,
  };
}

export function jsonDeadlock(steps: Deadlock): object {
  return {
    deadlock: steps.map(({ waiter, path, blocker, isHolder }) => ({
      waiter: jsonStanding(waiter),
      waitsFor: path,
      blocker: jsonStanding(blocker),
      isHeld: isHolder,
    })),
  };
}

export function jsonRevocation({ path, holder, event, mayNotListen, mayRunOn }: RevocationResult): object {
  const facts = { ...(mayNotListen && { mayNotListen }), ...(mayRunOn !== undefined && { mayRunOn }) };
  return { path, event, ...facts, holder: jsonStanding(holder) };
}

function jsonStanding({ nodes, ...standing }: Standing): object {
  return { ...jsonParty(standing), ...(nodes.length > 1 && { nodes }) };
}
