/**
 * Lists a whole tree. Makes nothing, watches nothing.
 *
 * Many znodes are asked for in one request (multiRead) and a few requests are under way at a time, always for the
 * znodes that will be visited next. The visits come in zkCli's order: a znode's children together, then each child in
 * turn. Znodes that vanish meanwhile are left out. Memory holds the siblings of where the walk is and a few replies,
 * not the tree. Aborting the signal, or leaving the loop, ends the walk; requests under way then end unseen.
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
const FIRST_BATCH = 16;
const MAX_BATCH = 128;
/** A reply should stay near this many names: it must fit into memory, and it keeps the connection busy. */
const NAMES_PER_REPLY = 16_000;
/** How far to look for znodes not asked for yet, past those that were. */
const MAX_LOOKED_AT = 10_000;
const PATHS_PER_YIELD = 2_000;

/** Throws when the root itself cannot be listed. Yields visits in groups, as they become known. */
export async function* walk(session: Session, root: string, options: WalkOptions): AsyncGenerator<Visit[]> {
  const children = toNodes(root, await session.getChildren(root, { signal: options.signal }));
  const first: Node = { path: root, children, isAsked: true };
  // What is left to visit, next on top.
  const stack = [first];
  const lookahead = new Lookahead(session, stack, options);
  let visits: Visit[] = [];
  let paths = 0;
  for (let next = stack.at(-1); next !== undefined; next = stack.at(-1)) {
    if (visits.length > 0 && (next.children === undefined || paths >= PATHS_PER_YIELD)) {
      yield visits;
      visits = [];
      paths = 0;
    }
    while (next.children === undefined) await lookahead.fetch();
    stack.pop();
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
class Lookahead {
  readonly #session: Session;
  readonly #stack: readonly Node[];
  readonly #options: WalkOptions;
  readonly #underWay: Promise<void>[] = [];
  #batchSize = FIRST_BATCH;

  constructor(session: Session, stack: readonly Node[], options: WalkOptions) {
    this.#session = session;
    this.#stack = stack;
    this.#options = options;
  }

  /** Gets closer to knowing what comes next: keeps requests under way, and waits for the oldest. */
  async fetch(): Promise<void> {
    while (this.#underWay.length < REQUESTS_UNDER_WAY) {
      const batch = this.#takeBatch();
      if (batch.length === 0) break;
      const request = this.#request(batch);
      // It may fail while an older one is awaited; whoever awaits it sees the failure then.
      request.catch(() => {});
      this.#underWay.push(request);
    }
    await this.#underWay.shift();
  }

  /** The znodes visited next that nobody has asked for: in the stack, and below what is known already. */
  #takeBatch(): Node[] {
    const batch: Node[] = [];
    let lookedAt = 0;
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      const pending = this.#stack.slice(i, i + 1);
      for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
        if (!node.isAsked) batch.push(node);
        node.isAsked = true;
        if (batch.length >= this.#batchSize || ++lookedAt >= MAX_LOOKED_AT) return batch;
        for (const child of node.children?.toReversed() ?? []) pending.push(child);
      }
    }
    return batch;
  }

  async #request(batch: readonly Node[]): Promise<void> {
    const ops = batch.map(({ path }) => ({ op: "getChildren", path }) as const);
    const results = await this.#session.multiRead(ops, { signal: this.#options.signal });
    let names = 0;
    for (const [index, node] of batch.entries()) {
      const result = results[index];
      if (result?.op === "error" && !(result.error instanceof NoNodeError)) {
        this.#options.onFailure(node.path, result.error);
      }
      node.children = result?.op === "getChildren" ? toNodes(node.path, result.children) : [];
      names += node.children.length;
    }
    const affordable = Math.floor(NAMES_PER_REPLY / Math.max(names / batch.length, 1));
    this.#batchSize = Math.min(MAX_BATCH, Math.max(1, affordable));
  }
}
