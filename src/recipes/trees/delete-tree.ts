/**
 * Deletes a znode and everything below it. Sets no watches and creates no znodes.
 *
 * While the walk goes on, znodes without children are deleted in transactions, at most
 * BATCHES_UNDER_WAY at a time. A transaction that fails is repeated as single deletes, so that each
 * znode that cannot be deleted is reported with its reason. If clients create znodes meanwhile, the
 * rest of the tree is listed again, up to MAX_PASSES times. After a broken connection the recipe
 * asks the next server whether each transaction was applied. A lost session or an aborted signal
 * ends the work with its error. Deleted znodes stay deleted.
 */
import { ConflictError, InterruptedError, NoNodeError } from "../../errors.ts";
import { ancestors } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { Batches, type Deletion, everything, unchangedOnly } from "./deletions.ts";
import { mayHaveBeenDone, refusalOf, type TreeFailure } from "./tree-failures.ts";
import { treeInterrupted, type UnfinishedRequest } from "./tree-interrupted.ts";

export interface DeleteTreeOptions {
  readonly signal: AbortSignal;
  /** Deletes in one transaction; 1 or less: no transactions. */
  readonly batchSize?: number;
  /**
   * A zxid: only znodes that have not changed since are deleted, each with its version, so that no
   * newer data is lost. The others are failures with reason `changed`.
   */
  readonly unchangedSince?: bigint;
  /** Called with the number of znodes deleted so far. */
  readonly onProgress?: (deleted: number) => void;
}

export interface DeletedTree {
  readonly deleted: number;
  /** The znodes that could not be deleted, without the parents that stay because of them. */
  readonly failures: readonly TreeFailure[];
}

const DEFAULT_BATCH = 1_000;
const BATCHES_UNDER_WAY = 10;
const SINGLES_UNDER_WAY = 500;
const MAX_PASSES = 5;
/** How many broken connections the same deletes are retried after. */
const MAX_LOSSES = 3;

/**
 * Throws NoNodeError if the root does not exist, TreeInterruptedError with the number of deleted
 * znodes if the signal is aborted, and the error of a lost session.
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
  /** Parents of znodes that could not be deleted: they cannot be deleted either. */
  readonly #stuck = new Set<string>();
  /** Znodes of this pass that were not empty although no failure below them is known. */
  #notEmpty: TreeFailure[] = [];
  readonly #unlisted = new Map<string, Error>();
  #deleted = 0;
  /** The sent transactions in their order; one is removed when its outcome has been handled. */
  readonly #underWay: Transaction[] = [];
  /** Single deletes without an answer when the work was interrupted. */
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

  /** Deepest znodes first. In a later pass a missing root is no failure: the tree is deleted. */
  async *#batches(size: number, isFirst: boolean): AsyncGenerator<Deletion[]> {
    const { signal, unchangedSince } = this.#options;
    const onFailure = (path: string, error: Error) => void this.#unlisted.set(path, error);
    const onChanged = (failure: TreeFailure) => this.#fail(failure);
    const batches = new Batches(size);
    const canGo = ({ path }: Deletion) => !this.#failures.has(path) && !this.#stuck.has(path);
    this.#unlisted.clear();
    const found =
      unchangedSince === undefined
        ? everything(this.#session, this.#root, { signal, onFailure })
        : unchangedOnly(this.#session, this.#root, {
            signal,
            onFailure,
            since: unchangedSince,
            onChanged,
          });
    try {
      for await (const deletions of found) yield* batches.add(deletions.filter(canGo));
    } catch (error) {
      if (isFirst || !(error instanceof NoNodeError)) throw error;
      return;
    }
    yield* batches.rest();
  }

  #deleteTogether(batch: readonly Deletion[]): Transaction {
    const ops = batch.map((deletion) => ({ op: "delete", ...deletion }) as const);
    const outcome = this.#session.multi(ops, { signal: this.#options.signal });
    // A rejection may come while an older transaction is awaited; #finishOldest() handles it.
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
      // The transaction was applied as a whole or not at all, so its last znode shows which. If
      // another client deleted that znode, deleting the parents of the others will fail with
      // NotEmpty.
      if (mayHaveBeenDone(error)) {
        if (await this.#isGone((batch.at(-1) as Deletion).path)) return this.#count(batch.length);
      } else refusalOf(error);
    }
    // The later transactions contain the parents of these znodes, so they fail as well and are
    // repeated as single deletes in their turn.
    for (let i = 0; i < batch.length; i += SINGLES_UNDER_WAY)
      await this.#deleteSingly(batch.slice(i, i + SINGLES_UNDER_WAY));
  }

  async #isGone(path: string): Promise<boolean> {
    return (await this.#session.exists(path, { signal: this.#options.signal })) === undefined;
  }

  async #deleteSingly(batch: readonly Deletion[], losses = 0): Promise<void> {
    const { signal } = this.#options;
    const requests = batch.map(({ path, version }) =>
      this.#session.delete(path, { signal, ...(version !== undefined && { version }) }),
    );
    const outcomes = await Promise.allSettled(requests);
    const interrupted = outcomes.find(isInterrupted);
    if (interrupted) {
      this.#singles = requests.map((outcome) => ({ outcome, znodes: 1 }));
      throw interrupted.reason;
    }
    const again: Deletion[] = [];
    let gone = 0;
    for (const [index, outcome] of outcomes.entries()) {
      const deletion = batch[index] as Deletion;
      const { path } = deletion;
      if (outcome.status === "fulfilled") gone += 1;
      else if (mayHaveBeenDone(outcome.reason) && losses < MAX_LOSSES) again.push(deletion);
      // After a broken connection NoNode most likely means that our own delete was applied.
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
  readonly batch: readonly Deletion[];
  readonly outcome: Promise<unknown>;
}
