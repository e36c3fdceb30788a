/**
 * Queues as objects: ids as 0x strings, tokens as decimal strings because they use more than 53
 * bits, times as ISO 8601.
 */
import type { Deadlock } from "../recipes/locks/inspect/deadlocks.ts";
import type { LockReport, QueueMember } from "../recipes/locks/inspect/inspect-lock.ts";
import type { RevocationResult } from "../results/lock-reports.ts";
import { breakers } from "./deadlock.ts";
import { jsonParty } from "./lock-json.ts";
import { contenderStep, lookingSteps } from "./whoholds-explain.ts";

export function jsonLock(report: LockReport, isExplained = false): object {
  const { path, exists, layouts, limit, holders, waiters, incompatibleTickets } = report;
  const explained = (member: QueueMember, isHolder: boolean) =>
    isExplained && { explain: contenderStep(member, isHolder, report) };
  return {
    path,
    state: holders.length > 0 ? "held" : "free",
    exists,
    layouts,
    ...(limit !== undefined && { limit }),
    ...(isExplained && { explain: lookingSteps(report) }),
    holders: holders.map((holder) => ({ ...jsonMember(holder), ...explained(holder, true) })),
    waiters: waiters.map((waiter, index) => ({
      position: index + 1,
      ...jsonMember(waiter),
      ...explained(waiter, false),
    })),
    strangers: incompatibleTickets,
  };
}

export function jsonDeadlock(steps: Deadlock): object {
  return {
    deadlock: steps.map(({ waiter, path, blocker, isHolder }) => ({
      waiter: jsonMember(waiter),
      waitsFor: path,
      blocker: jsonMember(blocker),
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
  return { path, event, ...facts, holder: jsonMember(holder) };
}

function jsonMember({ nodes, ...member }: QueueMember): object {
  return { ...jsonParty(member), ...(nodes.length > 1 && { nodes }) };
}
