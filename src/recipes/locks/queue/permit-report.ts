/** Who has the permits of a semaphore, for those who wait for one. */
import { NoNodeError, PermissionError } from "../../../errors.ts";
import { baseName, joinPath } from "../../../session/path.ts";
import type { Session } from "../../../session/session.ts";
import type { Contending, Permits, Waiting } from "../events.ts";
import { describeParty } from "../holder-record.ts";
import { type Contender, parseContender, parseContenders } from "./contender.ts";
import { listTickets } from "./list-tickets.ts";
import { MAX_NAMED, type OutsideHolders } from "./queue-report.ts";
import { untilAnswered } from "./retry-unanswered.ts";

interface DescribeOptions {
  /** Of leases of ours that are not good yet. */
  readonly ownUuid?: string;
  /** How many holders are read. */
  readonly named: number;
  readonly signal: AbortSignal | undefined;
}

export class PermitReport {
  readonly #session: Session;
  /** The path of the leases. */
  readonly #leases: string;
  readonly #limit: number;
  readonly #parties = new Map<string, Contending>();

  constructor(session: Session, leases: string, limit: number) {
    this.#session = session;
    this.#leases = leases;
    this.#limit = limit;
  }

  /** Lists the leases. */
  readonly look = async (signal: AbortSignal | undefined): Promise<OutsideHolders> => {
    const { children } = await listTickets(this.#session, this.#leases, { signal });
    return this.describe(children, { named: MAX_NAMED, signal });
  };

  async describe(
    children: readonly string[],
    { ownUuid, named, signal }: DescribeOptions,
  ): Promise<OutsideHolders> {
    const holders = this.#holders(children).filter(
      ([{ uuid }]) => uuid === undefined || uuid !== ownUuid,
    );
    const permits = permitsOf(children, this.#limit, ownUuid);
    const read = holders.slice(0, named).map(([lease]) => this.#read(lease, signal));
    const parties = (await Promise.all(read)).filter((party) => party !== undefined);
    return { holders: parties, holderCount: holders.length, permits };
  }

  /** The leases of each client that has all of its permits. */
  #holders(children: readonly string[]): [Contender, ...Contender[]][] {
    const leases = parseContenders(children);
    const good = new Set(leases.slice(0, this.#limit));
    const clients = new Map<string, [Contender, ...Contender[]]>();
    for (const lease of leases) {
      const key = lease.uuid ?? lease.name;
      const own = clients.get(key);
      if (own) own.push(lease);
      else clients.set(key, [lease]);
    }
    return [...clients.values()].filter((own) => own.every((lease) => good.has(lease)));
  }

  async #read(lease: Contender, signal: AbortSignal | undefined): Promise<Contending | undefined> {
    const known = this.#parties.get(lease.name);
    if (known && (known.acquiredAt !== undefined || !known.client.startsWith("zksh"))) return known;
    const node = joinPath(this.#leases, lease.name);
    try {
      const data = await untilAnswered(() => this.#session.getData(node, { signal }));
      const party: Contending = { ...describeParty(node, lease, data), mode: "semaphore" };
      this.#parties.set(lease.name, party);
      return party;
    } catch (error) {
      if (error instanceof NoNodeError || error instanceof PermissionError) return undefined;
      throw error;
    }
  }
}

/**
 * What the head of a semaphore's queue tells: no ticket is in front of it, only the permits are all
 * taken.
 */
export function asHead(
  path: string,
  node: string,
  queueLength: number,
  held: OutsideHolders,
): Waiting {
  const [holder] = held.holders;
  return {
    event: "waiting",
    path,
    node,
    mode: "semaphore",
    position: 1,
    of: Math.max(1, queueLength),
    inFront: held.holderCount,
    ahead: holder ? baseName(holder.node) : "",
    watches: "leases",
    ...(holder && { holder }),
    ...held,
    waiters: [],
    waiterCount: 0,
  };
}

/**
 * Curator counts every child; no more than the limit can be taken. `ownUuid`: leases that do not
 * count yet.
 */
export function permitsOf(children: readonly string[], limit: number, ownUuid?: string): Permits {
  const taken = children.filter(
    (name) => ownUuid === undefined || parseContender(name)?.uuid !== ownUuid,
  ).length;
  return { taken: Math.min(taken, limit), limit };
}
