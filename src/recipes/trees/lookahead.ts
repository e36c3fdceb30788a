/**
 * Which znodes a walk asks for, and when: ahead of its visits, in requests that grow as far as the
 * replies stay small.
 */
import { NoNodeError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { ReadOp, ReadResult, Session } from "../../session/session.ts";
import type { Visit, WalkOptions } from "./walk.ts";

const REQUESTS_UNDER_WAY = 4;
const MAX_BATCH = 512;
/**
 * A server hangs up on requests of 1 MB. A character may take three bytes, and the chroot comes on
 * top of every path.
 */
const MAX_REQUEST_LENGTH = 200_000;
/**
 * A reply should stay near this many names: it must fit into memory, and it keeps the connection
 * busy.
 */
const NAMES_PER_REPLY = 16_000;
/** Children that a znode is taken to have before its level of the tree is known. */
const FIRST_GUESS = 1_000;
/** So many znodes of a level outweigh what was known of it before. */
const MEMORY = 32;
/** How far to look for znodes not asked for yet, past those that were. */
const MAX_LOOKED_AT = 10_000;

/** Levels below the root of the walk, and the last level that is listed. */
interface Level {
  readonly depth: number;
  readonly maxDepth: number | undefined;
}

/** A znode's children, and how far the walk has come with them. */
export class PendingVisit implements Visit {
  readonly path: string;
  readonly children: readonly string[];
  /** Levels below the root of the walk. */
  readonly depth: number;
  /** Of the children, the first so many have been asked for, and so many of these answered. */
  asked: number;
  answered: number;
  /** Those of the answered that have children themselves and have not been visited, in order. */
  readonly below: PendingVisit[] = [];

  constructor(path: string, children: string[], { depth, maxDepth = Infinity }: Level) {
    this.path = path;
    this.children = children.sort();
    this.depth = depth;
    // Below the last level nothing is asked for: its znodes count as having no children.
    this.asked = depth + 1 < maxDepth ? 0 : children.length;
    this.answered = this.asked;
  }

  get isAnswered(): boolean {
    return this.answered === this.children.length;
  }

  get settled(): number {
    return this.below.length === 0 ? this.answered : 0;
  }

  /** Nothing below it is left to visit. */
  get isDone(): boolean {
    return this.isAnswered && this.below.length === 0;
  }
}

interface Asked {
  readonly batch: Batch;
  readonly results: Promise<ReadResult[]>;
}

export class Lookahead {
  readonly #session: Session;
  /** From the root down to where the walk is. */
  readonly #trail: readonly PendingVisit[];
  readonly #options: WalkOptions;
  readonly #underWay: Asked[] = [];
  /**
   * How many children znodes have, by depth: what is on one level of a tree is mostly of one kind.
   */
  readonly #usual: number[] = [];

  constructor(session: Session, trail: readonly PendingVisit[], options: WalkOptions) {
    this.#session = session;
    this.#trail = trail;
    this.#options = options;
  }

  /** Gets closer to knowing what comes next: keeps requests under way, and waits for the oldest. */
  async fetch(): Promise<void> {
    while (this.#underWay.length < REQUESTS_UNDER_WAY) {
      const batch = this.#takeBatch();
      if (batch.questions.length === 0) break;
      const results = this.#session.multiRead(batch.questions, { signal: this.#options.signal });
      // It may fail while an older one is awaited; whoever awaits it sees the failure then.
      results.catch(() => {});
      this.#underWay.push({ batch, results });
    }
    const oldest = this.#underWay.shift();
    if (oldest) this.#note(oldest.batch, await oldest.results);
  }

  /**
   * The znodes visited next that nobody has asked for: below what is known already, then further up
   * the trail.
   */
  #takeBatch(): Batch {
    const batch = new Batch();
    let lookedAt = 0;
    for (let i = this.#trail.length - 1; i >= 0; i--) {
      const pending = [{ listing: this.#trail[i] as PendingVisit, next: 0 }];
      for (let top = pending.at(-1); top !== undefined; top = pending.at(-1)) {
        const { listing } = top;
        const child = listing.below[top.next++];
        if (child !== undefined) pending.push({ listing: child, next: 0 });
        else {
          if (!batch.fill(listing, this.#usualAt(listing.depth + 1)) || ++lookedAt >= MAX_LOOKED_AT)
            return batch;
          pending.pop();
        }
      }
    }
    return batch;
  }

  #note({ questions, parents }: Batch, results: readonly ReadResult[]): void {
    for (const [index, parent] of parents.entries()) {
      const result = results[index];
      const children = result?.op === "getChildren" ? result.children : [];
      const depth = parent.depth + 1;
      if (children.length > 0)
        parent.below.push(
          new PendingVisit(questions[index]?.path ?? "", children, {
            depth,
            maxDepth: this.#options.maxDepth,
          }),
        );
      else if (result?.op === "error" && !(result.error instanceof NoNodeError)) {
        this.#options.onFailure(result.path, result.error);
      }
      parent.answered += 1;
      const usual = this.#usualAt(depth);
      this.#usual[depth] = usual + (children.length - usual) / MEMORY;
    }
  }

  #usualAt(depth: number): number {
    return this.#usual[depth] ?? FIRST_GUESS;
  }
}

/** One request in the making. */
class Batch {
  readonly questions: ReadOp[] = [];
  /** Where the answers belong. */
  readonly parents: PendingVisit[] = [];
  #length = 0;
  #names = 0;

  /**
   * Adds children nobody has asked for, each of which is expected to have so many. False when there
   * is no more room.
   */
  fill(parent: PendingVisit, expected: number): boolean {
    for (; parent.asked < parent.children.length; parent.asked++) {
      if (this.#isFull) return false;
      const path = joinPath(parent.path, parent.children[parent.asked] as string);
      this.questions.push({ op: "getChildren", path });
      this.parents.push(parent);
      this.#length += path.length;
      this.#names += expected;
    }
    return !this.#isFull;
  }

  get #isFull(): boolean {
    return (
      this.questions.length >= MAX_BATCH ||
      this.#length >= MAX_REQUEST_LENGTH ||
      this.#names >= NAMES_PER_REPLY
    );
  }
}
