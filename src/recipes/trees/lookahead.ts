/**
 * Requests the children of the znodes that a walk visits next, ahead of its visits. Batches are as
 * large as the expected reply allows.
 */
import { NoNodeError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { ReadOp, ReadResult, Session } from "../../session/session.ts";
import type { Visit, WalkOptions } from "./walk.ts";

const REQUESTS_UNDER_WAY = 4;
const MAX_BATCH = 512;
/**
 * Servers close the connection at requests of 1 MB. A character takes up to three bytes, and the
 * chroot is added to each path.
 */
const MAX_REQUEST_LENGTH = 200_000;
/**
 * The number of names to expect in one reply: a reply must fit into memory, and it delays the
 * replies behind it.
 */
const NAMES_PER_REPLY = 16_000;
/** The number of children to expect before any znode of the level has been listed. */
const FIRST_GUESS = 1_000;
/** Each new znode counts 1/32 in the running average of a level's children. */
const MEMORY = 32;
/** How many known znodes one search for unrequested children may pass. */
const MAX_LOOKED_AT = 10_000;

/** Levels below the root of the walk, and the last level that is listed. */
interface Level {
  readonly depth: number;
  readonly maxDepth: number | undefined;
}

/** A znode with its children, and the progress of the walk among them. */
export class PendingVisit implements Visit {
  readonly path: string;
  readonly children: readonly string[];
  /** Levels below the root of the walk. */
  readonly depth: number;
  /**
   * The first `asked` children have been requested; for the first `answered` the reply has come.
   */
  asked: number;
  answered: number;
  /** The answered children that have children themselves and are not visited yet, in order. */
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

  /** True if everything below this znode has been visited. */
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
  /** From the root down to the znode that the walk visits now. */
  readonly #trail: readonly PendingVisit[];
  readonly #options: WalkOptions;
  readonly #underWay: Asked[] = [];
  /** The average number of children by depth: znodes of one level are mostly alike. */
  readonly #usual: number[] = [];

  constructor(session: Session, trail: readonly PendingVisit[], options: WalkOptions) {
    this.#session = session;
    this.#trail = trail;
    this.#options = options;
  }

  /** Keeps REQUESTS_UNDER_WAY requests under way and waits for the oldest one. */
  async fetch(): Promise<void> {
    while (this.#underWay.length < REQUESTS_UNDER_WAY) {
      const batch = this.#takeBatch();
      if (batch.questions.length === 0) break;
      const results = this.#session.multiRead(batch.questions, { signal: this.#options.signal });
      // A rejection may come while an older request is awaited; the later await throws it.
      results.catch(() => {});
      this.#underWay.push({ batch, results });
    }
    const oldest = this.#underWay.shift();
    if (oldest) this.#note(oldest.batch, await oldest.results);
  }

  /**
   * Collects the next znodes whose children have not been requested: first below the current znode,
   * then further up the trail.
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
   * Adds the children of `parent` that have not been requested, each with `expected` children.
   * Returns false if the batch is full.
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
