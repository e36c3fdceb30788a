/**
 * Deletes a znode and everything below it. Watches nothing, makes nothing.
 *
 * The tree is listed, then deleted from its end in transactions, a few of them under way at a time. A transaction that
 * fails is taken apart into single deletes, so that what can go goes, and what cannot is named with its reason. Where
 * znodes appeared meanwhile, what is left is listed again, a few times. A lost session ends the work with its error;
 * aborting the signal too. Either way a deleted znode stays deleted.
 */
import { ConflictError, NoNodeError } from "../errors.ts";
import { ancestors } from "../session/path.ts";
import type { Session } from "../session/session.ts";
import { listTree, refusalOf, type TreeFailure } from "./tree.ts";

export interface DeleteTreeOptions {
  readonly signal: AbortSignal;
  /** Deletes in one transaction; 1 or less: no transactions. */
  readonly batchSize?: number;
  /** Told now and then how many are gone so far. */
  readonly onProgress?: (deleted: number) => void;
}

export interface DeletedTree {
  readonly deleted: number;
  /** The znodes that stand in the way, without the parents that could not go because of them. */
  readonly failures: readonly TreeFailure[];
}

const DEFAULT_BATCH = 1_000;
/** A server hangs up on requests of 1 MB; the chroot comes on top of every path. */
const MAX_BATCH_LENGTH = 300_000;
const BATCHES_UNDER_WAY = 10;
const SINGLES_UNDER_WAY = 500;
const MAX_PASSES = 5;

/** Throws NoNodeError when there is no such znode, and whatever ends the session. */
export async function deleteTree(session: Session, root: string, options: DeleteTreeOptions): Promise<DeletedTree> {
  return new TreeDeletion(session, root, options).run();
}

class TreeDeletion {
  readonly #session: Session;
  readonly #root: string;
  readonly #options: DeleteTreeOptions;
  readonly #failures = new Map<string, TreeFailure>();
  /** Znodes that cannot go before something that failed has gone. */
  readonly #stuck = new Set<string>();
  /** In this pass: had children still, and we do not know of which failure. */
  #notEmpty: TreeFailure[] = [];
  #unlisted: ReadonlyMap<string, Error> = new Map();
  #deleted = 0;

  constructor(session: Session, root: string, options: DeleteTreeOptions) {
    this.#session = session;
    this.#root = root;
    this.#options = options;
  }

  async run(): Promise<DeletedTree> {
    for (let pass = 1; pass <= MAX_PASSES; pass++) {
      const paths = await this.#list(pass === 1);
      await this.#deleteAll(paths.filter((path) => !this.#failures.has(path) && !this.#stuck.has(path)));
      this.#notEmpty = this.#notEmpty.filter(({ path }) => !this.#stuck.has(path));
      if (this.#notEmpty.length === 0) break;
      if (pass < MAX_PASSES) this.#notEmpty = [];
    }
    for (const failure of this.#notEmpty) this.#fail(failure);
    const failures = [...this.#failures.values()].filter(({ path }) => !this.#stuck.has(path));
    return { deleted: this.#deleted, failures };
  }

  /** Deepest first. A root that is gone in a later pass is no failure: that was the point. */
  async #list(isFirst: boolean): Promise<string[]> {
    try {
      const { paths, unlisted } = await listTree(this.#session, this.#root, this.#options.signal);
      this.#unlisted = unlisted;
      return paths.toReversed();
    } catch (error) {
      if (isFirst || !(error instanceof NoNodeError)) throw error;
      return [];
    }
  }

  async #deleteAll(paths: readonly string[]): Promise<void> {
    const { batchSize = DEFAULT_BATCH } = this.#options;
    if (batchSize <= 1) return this.#deleteSingly(paths);
    const underWay: { batch: readonly string[]; outcome: Promise<boolean> }[] = [];
    const finishOldest = async () => {
      const oldest = underWay.shift();
      if (!oldest) return;
      if (await oldest.outcome) this.#count(oldest.batch.length);
      // Batches behind it held its parents: they have failed as well, and take the same way, in order.
      else await this.#deleteSingly(oldest.batch);
    };
    for (const batch of batches(paths, batchSize)) {
      if (underWay.length >= BATCHES_UNDER_WAY) await finishOldest();
      const outcome = this.#deleteTogether(batch);
      outcome.catch(() => {});
      underWay.push({ batch, outcome });
    }
    while (underWay.length > 0) await finishOldest();
  }

  async #deleteTogether(batch: readonly string[]): Promise<boolean> {
    const { signal } = this.#options;
    try {
      await this.#session.multi(
        batch.map((path) => ({ op: "delete", path }) as const),
        { signal },
      );
      return true;
    } catch (error) {
      refusalOf(error);
      return false;
    }
  }

  async #deleteSingly(paths: readonly string[]): Promise<void> {
    const { signal } = this.#options;
    for (let i = 0; i < paths.length; i += SINGLES_UNDER_WAY) {
      const group = paths.slice(i, i + SINGLES_UNDER_WAY);
      const outcomes = await Promise.allSettled(group.map((path) => this.#session.delete(path, { signal })));
      let gone = 0;
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "fulfilled") gone += 1;
        else this.#refused(group[index] ?? "", outcome.reason);
      }
      this.#count(gone);
    }
  }

  #refused(path: string, reason: unknown): void {
    const error = refusalOf(reason);
    if (error instanceof NoNodeError) return;
    const unlisted = this.#unlisted.get(path);
    if (!(error instanceof ConflictError)) this.#fail({ path, error });
    else if (unlisted) this.#fail({ path, error: refusalOf(unlisted) });
    else this.#notEmpty.push({ path, error });
  }

  #fail(failure: TreeFailure): void {
    this.#failures.set(failure.path, failure);
    for (const parent of ancestors(failure.path)) this.#stuck.add(parent);
  }

  #count(deleted: number): void {
    this.#deleted += deleted;
    if (deleted > 0) this.#options.onProgress?.(this.#deleted);
  }
}

function* batches(paths: readonly string[], size: number): Generator<readonly string[]> {
  let batch: string[] = [];
  let length = 0;
  for (const path of paths) {
    if (batch.length >= size || (batch.length > 0 && length + path.length > MAX_BATCH_LENGTH)) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(path);
    length += path.length;
  }
  if (batch.length > 0) yield batch;
}
