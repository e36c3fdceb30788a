/**
 * Finds wait-for cycles among contenders that queue for several locks.
 *
 * A waiter waits for all holders of its lock and for all earlier waiters; a waiter for a permit
 * needs only one of the holders to leave. Contenders are told apart by their sessions. A program
 * with several threads in one session may look stuck without being so. Therefore an actor never
 * waits for itself or for a lock that it already queues for, and a cycle needs at least two locks.
 * A program that runs inside the lock of another one (`within`) is the same actor as that one.
 */
import { baseName } from "../../../session/path.ts";
import { parseContender } from "../queue/contender.ts";
import type { LockReport, QueueMember } from "./inspect-lock.ts";

/** One step of a cycle: `waiter` waits for the lock that `blocker` holds, or will hold first. */
interface DeadlockStep {
  readonly waiter: QueueMember;
  readonly path: string;
  readonly blocker: QueueMember;
  readonly isHolder: boolean;
}

/**
 * The blocker of each step is the same actor as the waiter of the next step; after the last step
 * comes the first.
 */
export type Deadlock = readonly DeadlockStep[];

/** A held lock of the cycle: releasing it ends the deadlock. */
interface WayOut {
  readonly path: string;
  /**
   * The holder ignores revoke requests, so the lock must be revoked with --force; see revoke.ts.
   */
  readonly isByForce: boolean;
}

/** Returns each held lock of the cycle once. */
export function waysOut(deadlock: Deadlock): WayOut[] {
  const held = deadlock.filter(({ isHolder }) => isHolder);
  const ways = new Map(
    held.map(({ path, blocker }) => [path, { path, isByForce: !canBeAsked(blocker) }]),
  );
  return [...ways.values()];
}

function canBeAsked({ isOurs, node }: QueueMember): boolean {
  if (isOurs) return true;
  const contender = parseContender(baseName(node));
  const isListening = contender?.family === "curator" || contender?.family === "textbook";
  return isListening && contender.claim !== "lease" && contender.claim !== "latch";
}

type Actor = number;

interface Wait {
  readonly path: string;
  readonly waiter: QueueMember;
  /** Whether all of `blockers` must leave, or any one of them. */
  readonly needs: "all" | "any";
  readonly blockers: readonly Blocker[];
}

interface Blocker {
  readonly actor: Actor;
  readonly blocker: QueueMember;
  readonly isHolder: boolean;
}

/**
 * How many earlier waiters of a long queue are compared: the waiters further ahead block these as
 * well.
 */
const NEAREST = 200;

export function findDeadlocks(reports: readonly LockReport[]): Deadlock[] {
  const actorOf = identify(reports);
  const waits = stuckWaits(collectWaits(reports, actorOf));
  const found: Deadlock[] = [];
  const involved = new Set<Actor>();
  for (const actor of waits.keys()) {
    if (involved.has(actor)) continue;
    const cycle = shortestCycle(actor, waits);
    const actors = cycle?.map(({ waiter }) => actorOf(waiter)) ?? [];
    // Breaking one cycle may break the others with the same actors, so only one of them is
    // reported.
    if (!cycle || actors.some((one) => involved.has(one))) continue;
    found.push(cycle);
    for (const one of actors) involved.add(one);
  }
  return found;
}

/**
 * Returns a function that numbers the actors. Tickets of one session have the same number, and so
 * have programs that run inside each other's locks.
 */
function identify(reports: readonly LockReport[]): (member: QueueMember) => Actor {
  const all = reports.flatMap(({ holders, waiters }) => [...holders, ...waiters]);
  const owners = new Map(all.map(({ token, session }) => [String(token), session]));
  const parents = new Map<bigint, bigint>();
  const root = (session: bigint): bigint => {
    let top = session;
    for (let above = parents.get(top); above !== undefined; above = parents.get(top)) top = above;
    return top;
  };
  for (const { session, within = [] } of all) {
    for (const token of within) {
      const [inner, outer] = [root(session), root(owners.get(token) ?? session)];
      if (inner !== outer) parents.set(inner, outer);
    }
  }
  const numbers = new Map<bigint, Actor>();
  return ({ session }) => {
    const top = root(session);
    const number = numbers.get(top) ?? numbers.size;
    numbers.set(top, number);
    return number;
  };
}

function collectWaits(
  reports: readonly LockReport[],
  actorOf: (member: QueueMember) => Actor,
): Map<Actor, Wait[]> {
  const locksOf = new Map<Actor, Set<string>>();
  for (const { path, holders, waiters } of reports) {
    for (const member of [...holders, ...waiters]) {
      const actor = actorOf(member);
      locksOf.set(actor, (locksOf.get(actor) ?? new Set()).add(path));
    }
  }
  // An actor in the queue of one lock only cannot be part of a cycle.
  const isInSeveral = (member: QueueMember) => (locksOf.get(actorOf(member))?.size ?? 0) > 1;
  const waits = new Map<Actor, Wait[]>();
  for (const { path, holders, waiters } of reports) {
    const block = (isHolder: boolean) => (blocker: QueueMember) => ({
      actor: actorOf(blocker),
      blocker,
      isHolder,
    });
    const allHolders = holders.map(block(true));
    const holding = allHolders.filter(({ blocker }) => isInSeveral(blocker));
    const ahead: Blocker[] = [];
    const inLine = new Set(allHolders.map(({ actor }) => actor));
    for (const waiter of waiters.filter(isInSeveral)) {
      const actor = actorOf(waiter);
      if (inLine.has(actor)) continue;
      inLine.add(actor);
      const isPermit = waiter.mode === "semaphore";
      const blockers = isPermit ? allHolders : [...holding, ...ahead.slice(-NEAREST)];
      waits.set(actor, [
        ...(waits.get(actor) ?? []),
        { path, waiter, needs: isPermit ? "any" : "all", blockers },
      ]);
      if (!isPermit) ahead.push(block(false)(waiter));
    }
  }
  return waits;
}

/** Removes the waits that will end, until only the waits that cannot end are left. */
function stuckWaits(waits: ReadonlyMap<Actor, readonly Wait[]>): Map<Actor, Wait[]> {
  const stuck = new Map([...waits].map(([actor, all]) => [actor, [...all]]));
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const [actor, all] of stuck) {
      const left = all.flatMap((wait) => {
        const blockers = wait.blockers.filter((one) => stuck.has(one.actor));
        const isOver =
          blockers.length === 0 || (wait.needs === "any" && blockers.length < wait.blockers.length);
        return isOver ? [] : [{ ...wait, blockers }];
      });
      if (left.length === 0) stuck.delete(actor);
      else stuck.set(actor, left);
      isChanged ||= left.length === 0;
    }
  }
  return stuck;
}

/**
 * Searches breadth-first for a way from an actor back to itself in which two steps in a row are
 * about different locks.
 */
function shortestCycle(
  start: Actor,
  waits: ReadonlyMap<Actor, readonly Wait[]>,
): Deadlock | undefined {
  const seen = new Set<string>();
  const paths: { readonly actor: Actor; readonly steps: Deadlock }[] = [
    { actor: start, steps: [] },
  ];
  for (const { actor, steps } of paths) {
    const last = steps.at(-1)?.path;
    for (const { path, waiter, blockers } of waits.get(actor) ?? []) {
      if (path === last) continue;
      for (const { actor: next, blocker, isHolder } of blockers) {
        const longer = [...steps, { waiter, path, blocker, isHolder }];
        if (next === start && longer[0]?.path !== path) return longer;
        const key = `${next} ${path}`;
        if (seen.has(key)) continue;
        seen.add(key);
        paths.push({ actor: next, steps: longer });
      }
    }
  }
  return undefined;
}
