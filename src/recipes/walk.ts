/**
 * Lists a whole tree. Makes nothing, watches nothing.
 *
 * Many znodes are asked for in one request (multiRead) and a few requests are under way at a time; the visits come in
 * zkCli's order all the same: a znode's children together, then each child in turn. Znodes that vanish meanwhile are
 * left out. What has been fetched but not yet visited is bounded, so memory does not grow with the tree's width
 * times its depth. Aborting the signal, or leaving the loop, ends the walk; requests under way then end unseen.
 */
import { NoNodeError } from "../errors.ts";
import { joinPath } from "../session/path.ts";
import type { Session } from "../session/session.ts";

/** A znode that has children (the root: also without), with their paths sorted by UTF-16 unit. */
export interface Visit {
  readonly path: string;
  readonly children: readonly string[];
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** Told of a znode below the root that could not be listed; the walk goes on without what is below it. */
  readonly onFailure: (path: string, error: Error) => void;
}

const REQUESTS_UNDER_WAY = 4;
const MAX_BATCH = 500;
const FIRST_BATCH = 16;
/** The reply of one request should stay near this many names, because a server's replies share one connection. */
const NAMES_PER_REPLY = 16_000;
/** Znodes listed by their parent, not visited yet: beyond this, only what is needed next is asked for. */
const MAX_WAITING = 50_000;
const PATHS_PER_YIELD = 2_000;

/** Throws when the root itself cannot be listed. Yields visits in groups, as they become known. */
export async function* walk(session: Session, root: string, options: WalkOptions): AsyncGenerator<Visit[]> {
  const { signal } = options;
  const fetcher = new Fetcher(session, options);
  const first: Node = {
    path: root,
    children: toNodes(root, await session.getChildren(root, { signal })),
    isAsked: true,
  };
  fetcher.add(first.children ?? []);
  const stack = [first];
  let visits: Visit[] = [];
  let paths = 0;
  for (let next = stack.at(-1); next !== undefined; next = stack.at(-1)) {
    if (next.children === undefined || paths >= PATHS_PER_YIELD) {
      if (visits.length > 0) yield visits;
      visits = [];
      paths = 0;
    }
    while (next.children === undefined) await fetcher.fetch(next);
    stack.pop();
    fetcher.visited();
    if (next.children.length === 0 && next !== first) continue;
    visits.push({ path: next.path, children: next.children.map((child) => child.path) });
    paths += next.children.length;
    for (const child of next.children.toReversed()) stack.push(child);
  }
  if (visits.length > 0) yield visits;
}

interface Node {
  readonly path: string;
  /** Undefined until the server has told; empty when the znode is gone or could not be listed. */
  children: readonly Node[] | undefined;
  isAsked: boolean;
}

function toNodes(parent: string, names: string[]): Node[] {
  return names.sort().map((name) => ({ path: joinPath(parent, name), children: undefined, isAsked: false }));
}

/** Asks for children ahead of the visits. */
class Fetcher {
  readonly #session: Session;
  readonly #options: WalkOptions;
  /** Znodes not asked for yet, those that are visited first on top. */
  readonly #frontier: Node[] = [];
  readonly #underWay: Promise<void>[] = [];
  #waiting = 1;
  #batchSize = FIRST_BATCH;

  constructor(session: Session, options: WalkOptions) {
    this.#session = session;
    this.#options = options;
  }

  add(children: readonly Node[]): void {
    this.#waiting += children.length;
    for (const child of children.toReversed()) this.#frontier.push(child);
  }

  visited(): void {
    this.#waiting -= 1;
  }

  /** Gets closer to knowing the children of `next`: keeps requests under way and waits for the oldest. */
  async fetch(next: Node): Promise<void> {
    while (this.#underWay.length < REQUESTS_UNDER_WAY) {
      const batch = this.#take(next);
      if (batch.length === 0) break;
      const request = this.#request(batch);
      // It may fail while an older one is awaited; whoever awaits it sees the failure then.
      request.catch(() => {});
      this.#underWay.push(request);
    }
    await this.#underWay.shift();
  }

  #take(next: Node): Node[] {
    const batch = next.isAsked ? [] : [next];
    next.isAsked = true;
    while (batch.length < this.#batchSize && this.#waiting < MAX_WAITING) {
      const node = this.#frontier.pop();
      if (node === undefined) break;
      if (node.isAsked) continue;
      node.isAsked = true;
      batch.push(node);
    }
    return batch;
  }

  async #request(batch: readonly Node[]): Promise<void> {
    const ops = batch.map(({ path }) => ({ op: "getChildren", path }) as const);
    const results = await this.#session.multiRead(ops, { signal: this.#options.signal });
    let names = 0;
    for (let i = batch.length - 1; i >= 0; i--) {
      const node = batch[i];
      const result = results[i];
      if (!node || !result) continue;
      if (result.op === "error" && !(result.error instanceof NoNodeError))
        this.#options.onFailure(node.path, result.error);
      node.children = result.op === "getChildren" ? toNodes(node.path, result.children) : [];
      names += node.children.length;
      this.add(node.children);
    }
    const namesPerZnode = names / batch.length;
    this.#batchSize = Math.max(1, Math.min(MAX_BATCH, Math.floor(NAMES_PER_REPLY / Math.max(namesPerZnode, 1))));
  }
}
