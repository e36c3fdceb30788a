/**
 * Wait-for cycles among those who queue for several locks.
 *
 * Whoever waits for a lock waits for its holders and for everybody earlier in its queue; for a
 * permit of a semaphore any one of the holders will do. Sessions are what can be told apart from
 * outside: a program with several threads in one session may look stuck without being so, therefore
 * nobody is taken to be waiting for itself, or for a lock that it is in line for already, nor for
 * somebody over one lock only. A program that runs inside the lock of another (`within`) counts as
 * one with it.
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
 * Each one's blocker is the next one's waiter, and the last one's the first's: or one with it, in a
 * session of its own.
 */
export type Deadlock = readonly DeadlockStep[];

/** A lock that is held in the cycle: the cycle ends when its holder gives way. */
interface WayOut {
  readonly path: string;
  /** Its holder does not listen to requests; see revoke.ts. */
  readonly isByForce: boolean;
}

/** Each held lock of the cycle once. */
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
  /** Whom it waits for; all of them, or any one. */
  readonly needs: "all" | "any";
  readonly blockers: readonly Blocker[];
}

interface Blocker {
  readonly actor: Actor;
  readonly blocker: QueueMember;
  readonly isHolder: boolean;
}

/**
 * Of a long queue only so many are looked at: whoever waits further ahead is in the way of these
 * too.
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
    // Breaking one may break the others that share somebody with it: one at a time is told.
    if (!cycle || actors.some((one) => involved.has(one))) continue;
    found.push(cycle);
    for (const one of actors) involved.add(one);
  }
  return found;
}

/**
 * A number for everybody: the same for a session's tickets, and for programs inside each other's
 * locks.
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
  // Whoever has to do with one lock only is in nobody's way elsewhere.
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

/** Without those who can go on, again and again, until only those are left who cannot. */
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

/** From an actor back to itself; each waits for another lock than the one it is waited for. */
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
