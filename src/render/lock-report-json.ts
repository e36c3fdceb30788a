/**
 * Queues as objects: ids as 0x strings, tokens as decimal strings because they use more than 53
 * bits, times as ISO 8601.
 */
import type { Deadlock } from "../recipes/locks/inspect/deadlocks.ts";
import type { LockReport, Standing } from "../recipes/locks/inspect/inspect-lock.ts";
import type { RevocationResult } from "../results/lock-reports.ts";
import { breakers } from "./deadlock.ts";
import { jsonParty } from "./lock-json.ts";
import { contenderStep, lookingSteps } from "./whoholds-explain.ts";

export function jsonLock(report: LockReport, isExplained = false): object {
  const { path, exists, layouts, limit, holders, waiters, strangers } = report;
  const explained = (standing: Standing, isHolder: boolean) =>
    isExplained && { explain: contenderStep(standing, isHolder, report) };
  return {
    path,
    state: holders.length > 0 ? "held" : "free",
    exists,
    layouts,
    ...(limit !== undefined && { limit }),
    ...(isExplained && { explain: lookingSteps(report) }),
    holders: holders.map((holder) => ({ ...jsonStanding(holder), ...explained(holder, true) })),
    waiters: waiters.map((waiter, index) => ({
      position: index + 1,
      ...jsonStanding(waiter),
      ...explained(waiter, false),
    })),
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
    breakIt: breakers(steps),
  };
}

export function jsonRevocation({
  path,
  holder,
  event,
  mayNotListen,
  mayRunOn,
}: RevocationResult): object {
  const facts = {
    ...(mayNotListen && { mayNotListen }),
    ...(mayRunOn !== undefined && { mayRunOn }),
  };
  return { path, event, ...facts, holder: jsonStanding(holder) };
}

function jsonStanding({ nodes, ...standing }: Standing): object {
  return { ...jsonParty(standing), ...(nodes.length > 1 && { nodes }) };
}
