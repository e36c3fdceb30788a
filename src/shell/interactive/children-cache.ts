import type { Session } from "../../session/session.ts";

const TTL_MS = 5_000;
const MAX_PARENTS = 100;
/**
 * ZooKeeper cannot send a part of the names: longer lists are requested only if the user insists.
 */
const MAX_UNASKED = 5_000;

/** The child names, or their number if there are too many, or neither if no server answers. */
export interface CachedChildren {
  readonly names?: readonly string[];
  readonly tooMany?: number;
}

interface ListOptions {
  readonly insists?: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Kept {
  readonly at: number;
  readonly listing: Promise<CachedChildren>;
}

/** Caches child names for TAB for a short time; every write of this shell clears it. */
export class ChildrenCache {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  clear(): void {
    this.#kept.clear();
  }

  /** `insists`: request the names even if there are very many. Never rejects. */
  list(
    parent: string,
    session: Session,
    { insists = false, signal }: ListOptions = {},
  ): Promise<CachedChildren> {
    const key = `${insists ? "all" : "few"} ${parent}`;
    const all = this.#find(`all ${parent}`) ?? this.#find(key);
    if (all) return all;
    const listing = ask(parent, session, { insists, signal }).catch((): CachedChildren => {
      this.#kept.delete(key);
      return {};
    });
    this.#keep(key, listing);
    return listing;
  }

  #find(key: string): Promise<CachedChildren> | undefined {
    const kept = this.#kept.get(key);
    return kept && this.#now() - kept.at < TTL_MS ? kept.listing : undefined;
  }

  #keep(key: string, listing: Promise<CachedChildren>): void {
    this.#kept.delete(key);
    this.#kept.set(key, { at: this.#now(), listing });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_PARENTS) break;
      this.#kept.delete(oldest);
    }
  }
}

async function ask(
  parent: string,
  session: Session,
  { insists, signal }: ListOptions,
): Promise<CachedChildren> {
  if (session.state !== "connected") return {};
  if (!insists) {
    const stat = await session.exists(parent, { signal });
    if (!stat) return {};
    if (stat.numChildren > MAX_UNASKED) return { tooMany: stat.numChildren };
    if (stat.numChildren === 0) return { names: [] };
  }
  return { names: await session.getChildren(parent, { signal }) };
}
