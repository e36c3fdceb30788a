/**
 * Deletes a znode and everything below it. Watches nothing, makes nothing.
 *
 * While the tree is being listed, what has nothing left below it is deleted in transactions, a few
 * of them under way at a time. A transaction that fails is taken apart into single deletes, so that
 * what can go goes, and what cannot is named with its reason. Where znodes appeared meanwhile, what
 * is left is listed again, a few times. Where the connection broke, the next one is asked what
 * became of the transactions under way. A lost session ends the work with its error; aborting the
 * signal too. Either way a deleted znode stays deleted.
 */
import { ConflictError, InterruptedError, NoNodeError } from "../../errors.ts";
import { ancestors } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { deepestFirst, mayHaveBeenDone, refusalOf, type TreeFailure } from "./tree-failures.ts";
import { treeInterrupted, type UnfinishedRequest } from "./tree-interrupted.ts";
import { childPaths, walk } from "./walk.ts";

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
/** Connections that may break under the same deletes. */
const MAX_LOSSES = 3;

/**
 * Throws NoNodeError when there is no such znode, TreeInterruptedError with what was deleted when
 * the signal is aborted, and whatever ends the session.
 */
export async function deleteTree(
  session: Session,
  root: string,
  options: DeleteTreeOptions,
): Promise<DeletedTree> {
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
  readonly #unlisted = new Map<string, Error>();
  #deleted = 0;
  /** Transactions in the order they were sent, until their end has been looked at. */
  readonly #underWay: Transaction[] = [];
  /** Single deletes that an interruption has cut short. */
  #singles: UnfinishedRequest[] = [];

  constructor(session: Session, root: string, options: DeleteTreeOptions) {
    this.#session = session;
    this.#root = root;
    this.#options = options;
  }

  async run(): Promise<DeletedTree> {
    try {
      return await this.#run();
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error;
      const transactions = this.#underWay.map(({ batch, outcome }) => ({
        outcome,
        znodes: batch.length,
      }));
      throw await treeInterrupted(error, this.#deleted, [...transactions, ...this.#singles]);
    }
  }

  async #run(): Promise<DeletedTree> {
    for (let pass = 1; pass <= MAX_PASSES; pass++) {
      this.#notEmpty = [];
      await this.#deleteOnce(pass === 1);
      this.#notEmpty = this.#notEmpty.filter(({ path }) => !this.#stuck.has(path));
      if (this.#notEmpty.length === 0) break;
    }
    for (const failure of this.#notEmpty) this.#fail(failure);
    const failures = [...this.#failures.values()].filter(({ path }) => !this.#stuck.has(path));
    return { deleted: this.#deleted, failures };
  }

  async #deleteOnce(isFirst: boolean): Promise<void> {
    const { batchSize = DEFAULT_BATCH } = this.#options;
    if (batchSize <= 1) {
      for await (const batch of this.#batches(SINGLES_UNDER_WAY, isFirst))
        await this.#deleteSingly(batch);
      return;
    }
    for await (const batch of this.#batches(batchSize, isFirst)) {
      if (this.#underWay.length >= BATCHES_UNDER_WAY) await this.#finishOldest();
      this.#underWay.push(this.#deleteTogether(batch));
    }
    while (this.#underWay.length > 0) await this.#finishOldest();
  }

  /** Deepest first. A root that is gone in a later pass is no failure: that was the point. */
  async *#batches(size: number, isFirst: boolean): AsyncGenerator<string[]> {
    const { signal } = this.#options;
    const onFailure = (path: string, error: Error) => void this.#unlisted.set(path, error);
    const batches = new Batches(size);
    const canGo = (path: string) => !this.#failures.has(path) && !this.#stuck.has(path);
    this.#unlisted.clear();
    try {
      for await (const visit of deepestFirst(
        walk(this.#session, this.#root, { signal, onFailure }),
      )) {
        yield* batches.add(childPaths(visit).filter(canGo));
      }
    } catch (error) {
      if (isFirst || !(error instanceof NoNodeError)) throw error;
      return;
    }
    yield* batches.add([this.#root].filter(canGo));
    yield* batches.rest();
  }

  #deleteTogether(batch: readonly string[]): Transaction {
    const ops = batch.map((path) => ({ op: "delete", path }) as const);
    const outcome = this.#session.multi(ops, { signal: this.#options.signal });
    // It may fail while an older one is awaited; whoever awaits it sees the failure then.
    outcome.catch(() => {});
    return { batch, outcome };
  }

  async #finishOldest(): Promise<void> {
    const { batch, outcome } = this.#underWay[0] as Transaction;
    try {
      await outcome;
      this.#underWay.shift();
      return this.#count(batch.length);
    } catch (error) {
      if (error instanceof InterruptedError) throw error;
      this.#underWay.shift();
      // All of it is gone or nothing. Where its end is gone by somebody else's hand, the parents of
      // the rest will tell.
      if (mayHaveBeenDone(error)) {
        if (await this.#isGone(batch.at(-1) as string)) return this.#count(batch.length);
      } else refusalOf(error);
    }
    // Transactions behind it held its parents: they have failed as well, and take the same way, in
    // order.
    for (let i = 0; i < batch.length; i += SINGLES_UNDER_WAY)
      await this.#deleteSingly(batch.slice(i, i + SINGLES_UNDER_WAY));
  }

  async #isGone(path: string): Promise<boolean> {
    return (await this.#session.exists(path, { signal: this.#options.signal })) === undefined;
  }

  async #deleteSingly(paths: readonly string[], losses = 0): Promise<void> {
    const { signal } = this.#options;
    const requests = paths.map((path) => this.#session.delete(path, { signal }));
    const outcomes = await Promise.allSettled(requests);
    const interrupted = outcomes.find(isInterrupted);
    if (interrupted) {
      this.#singles = requests.map((outcome) => ({ outcome, znodes: 1 }));
      throw interrupted.reason;
    }
    const again: string[] = [];
    let gone = 0;
    for (const [index, outcome] of outcomes.entries()) {
      const path = paths[index] ?? "";
      if (outcome.status === "fulfilled") gone += 1;
      else if (mayHaveBeenDone(outcome.reason) && losses < MAX_LOSSES) again.push(path);
      // What we asked for before the connection broke was most likely our own doing.
      else if (outcome.reason instanceof NoNodeError) gone += losses > 0 ? 1 : 0;
      else this.#refused(path, outcome.reason);
    }
    this.#count(gone);
    if (again.length > 0) await this.#deleteSingly(again, losses + 1);
  }

  #refused(path: string, reason: unknown): void {
    const error = refusalOf(reason);
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

function isInterrupted(outcome: PromiseSettledResult<unknown>): outcome is PromiseRejectedResult {
  return outcome.status === "rejected" && outcome.reason instanceof InterruptedError;
}

interface Transaction {
  readonly batch: readonly string[];
  readonly outcome: Promise<unknown>;
}

/** Paths in the order they came, in batches that a server takes. */
class Batches {
  readonly #size: number;
  #batch: string[] = [];
  #length = 0;

  constructor(size: number) {
    this.#size = size;
  }

  *add(paths: readonly string[]): Generator<string[]> {
    for (const path of paths) {
      if (this.#batch.length >= this.#size || this.#length + path.length > MAX_BATCH_LENGTH)
        yield* this.rest();
      this.#batch.push(path);
      this.#length += path.length;
    }
  }

  *rest(): Generator<string[]> {
    if (this.#batch.length > 0) yield this.#batch;
    this.#batch = [];
    this.#length = 0;
  }
}
