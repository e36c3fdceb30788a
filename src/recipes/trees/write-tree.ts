/**
 * Writes the znodes of a tree, for `cp` and `import`: parents first, sequence counters and ACLs of
 * parents last. Watches nothing.
 *
 * Creates leave in transactions, a few of them under way at a time. A transaction that fails is
 * taken apart into single creates, so that what can be written is, and what cannot is named with
 * its reason. Where the connection broke before an answer, the znode that is found is compared with
 * the one that was sent: equal data means that it was written. Writing the same records again
 * changes nothing, so that work which has failed half-way can be repeated.
 */
import { ConflictError, InterruptedError, NoNodeError } from "../../errors.ts";
import type { Acl, Session } from "../../session/session.ts";
import { createOf, createZnode, hasEqualData, type NewZnode } from "./new-znode.ts";
import { raiseSequenceCounter } from "./raise-sequence-counter.ts";
import {
  isBelow,
  mayExist,
  mayHaveBeenDone,
  refusalOf,
  type TreeFailure,
} from "./tree-failures.ts";
import {
  stoppedAfter,
  TreeInterruptedError,
  treeInterrupted,
  type UnfinishedRequest,
} from "./tree-interrupted.ts";
import type { TreeSink } from "./tree-sink.ts";

/** What happens to a znode that exists already with other data. */
export type OnConflict = "fail" | "skip" | "overwrite";

export interface WriteTreeOptions {
  readonly signal: AbortSignal;
  readonly onConflict: OnConflict;
  /** Told now and then how many are done so far: written, or found there already. */
  readonly onProgress?: ((written: number) => void) | undefined;
}

export interface WrittenTree {
  readonly created: number;
  readonly overwritten: number;
  /** Existed with the same data. */
  readonly unchanged: number;
  /** Existed with other data, and was left as it is. */
  readonly skipped: number;
  readonly failures: readonly TreeFailure[];
}

const BATCH = 500;
/** A server refuses requests beyond 1 MB; paths, ACLs and the chroot come on top of the data. */
const BATCH_BYTES = 400_000;
const BATCHES_UNDER_WAY = 8;
const SINGLES_UNDER_WAY = 500;
/** Connections that may break under the same requests. */
const MAX_LOSSES = 3;

interface Batch {
  readonly znodes: readonly NewZnode[];
  readonly outcome: Promise<unknown>;
}

interface AclChange {
  readonly path: string;
  readonly acl: readonly Acl[];
}

export function existsWithOtherData(path: string): ConflictError {
  return new ConflictError("node-exists", `${path} exists with other data`, { path, code: -110 });
}

export class TreeWriter implements TreeSink {
  readonly #session: Session;
  readonly #options: WriteTreeOptions;
  readonly #signal: AbortSignal;
  #batch: NewZnode[] = [];
  #batchBytes = 0;
  /** The newest znode, held back until it is known whether it has children. */
  #newest: NewZnode | undefined;
  /** In the order they were sent, until their end has been looked at. */
  readonly #underWay: Batch[] = [];
  #singles: UnfinishedRequest[] = [];
  readonly #acls: AclChange[] = [];
  readonly #counters: { path: string; next: number }[] = [];
  readonly #failures: TreeFailure[] = [];
  readonly #counts = { created: 0, overwritten: 0, unchanged: 0, skipped: 0 };

  constructor(session: Session, options: WriteTreeOptions) {
    this.#session = session;
    this.#options = options;
    this.#signal = options.signal;
  }

  /**
   * Takes znodes, parents before their children. Throws ConflictError with `onConflict: "fail"`,
   * TreeInterruptedError when the signal is aborted, and the error of a lost session.
   */
  async add(znodes: readonly NewZnode[]): Promise<void> {
    await this.#counting(async () => {
      for (const znode of znodes) {
        const before = this.#newest;
        this.#newest = znode;
        if (before) await this.#take(before, isBelow(znode.path, before.path));
      }
    });
  }

  /** Writes what is left, then sequence counters and the ACLs of parents. */
  async finish(): Promise<WrittenTree> {
    return this.#counting(async () => {
      if (this.#newest) await this.#take(this.#newest, false);
      this.#newest = undefined;
      this.#send();
      while (this.#underWay.length > 0) await this.#finishOldest();
      for (const counter of this.#counters) await this.#raiseCounter(counter);
      // Children first: an ACL may forbid everything below it.
      const acls = this.#acls.reverse();
      for (let start = 0; start < acls.length; start += SINGLES_UNDER_WAY)
        await this.#setAcls(acls.slice(start, start + SINGLES_UNDER_WAY));
      return { ...this.#counts, failures: this.#failures };
    });
  }

  /**
   * The error to throw where the source of the znodes, or the writer, fails with `error`: it tells
   * how many were written until then.
   */
  async stopped(error: unknown): Promise<unknown> {
    if (error instanceof TreeInterruptedError) return error;
    const done = this.#counts.created + this.#counts.overwritten;
    if (!(error instanceof InterruptedError)) return stoppedAfter(error, done);
    const batches = this.#underWay.map(({ znodes, outcome }) => ({
      outcome,
      znodes: znodes.length,
    }));
    return treeInterrupted(error, done, [...batches, ...this.#singles]);
  }

  async #counting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof InterruptedError ? await this.stopped(error) : error;
    }
  }

  async #take(znode: NewZnode, hasChildren: boolean): Promise<void> {
    let created = znode;
    const getsChildren = hasChildren || znode.nextSequence !== undefined;
    if (getsChildren && znode.acl !== undefined) {
      // Its ACL may forbid us to create its children: it is set when they are there.
      this.#acls.push({ path: znode.path, acl: znode.acl });
      created = { ...znode, acl: undefined };
    }
    if (znode.nextSequence !== undefined)
      this.#counters.push({ path: znode.path, next: znode.nextSequence });
    const bytes = created.path.length + (created.data?.length ?? 0);
    if (this.#batch.length >= BATCH || this.#batchBytes + bytes > BATCH_BYTES) this.#send();
    this.#batch.push(created);
    this.#batchBytes += bytes;
    while (this.#underWay.length > BATCHES_UNDER_WAY) await this.#finishOldest();
  }

  #send(): void {
    const znodes = this.#batch;
    const [only] = znodes;
    if (only === undefined) return;
    const outcome: Promise<unknown> =
      znodes.length === 1
        ? createZnode(this.#session, only, this.#signal)
        : this.#session.multi(znodes.map(createOf), { signal: this.#signal });
    // It may fail while an older one is awaited; the writer meets the failure in its turn.
    outcome.catch(() => {});
    this.#underWay.push({ znodes, outcome });
    this.#batch = [];
    this.#batchBytes = 0;
  }

  async #finishOldest(): Promise<void> {
    const { znodes, outcome } = this.#underWay[0] as Batch;
    let isUnknown = false;
    try {
      await outcome;
      this.#underWay.shift();
      return this.#wrote(znodes.length);
    } catch (error) {
      if (error instanceof InterruptedError) throw error;
      this.#underWay.shift();
      isUnknown = mayHaveBeenDone(error);
      if (!isUnknown) refusalOf(error);
    }
    // Transactions behind it may have lacked its parents: they take the same way, in order.
    for (let start = 0; start < znodes.length; start += SINGLES_UNDER_WAY)
      await this.#writeSingly(znodes.slice(start, start + SINGLES_UNDER_WAY), isUnknown ? 1 : 0);
  }

  /** `losses`: connections that broke under these creates, so that some may have been done. */
  async #writeSingly(znodes: readonly NewZnode[], losses: number): Promise<void> {
    const outcomes = await this.#settle(znodes, (znode) =>
      createZnode(this.#session, znode, this.#signal),
    );
    const again: NewZnode[] = [];
    const existing = new Map<NewZnode, unknown>();
    let created = 0;
    for (const [index, outcome] of outcomes.entries()) {
      const znode = znodes[index] as NewZnode;
      if (outcome.status === "fulfilled") created += 1;
      else if (mayExist(outcome.reason)) existing.set(znode, outcome.reason);
      else if (mayHaveBeenDone(outcome.reason) && losses < MAX_LOSSES) again.push(znode);
      // Sent over the next connection, while the create of its parent was lost with the last one.
      else if (again.length > 0 && outcome.reason instanceof NoNodeError) again.push(znode);
      else this.#fail(znode.path, outcome.reason);
    }
    this.#wrote(created);
    if (existing.size > 0) await this.#meet(existing, losses > 0);
    if (again.length > 0) await this.#writeSingly(again, losses + 1);
  }

  /**
   * Znodes that could not be created because they exist, most likely, each with the refusal. With
   * `mayBeOurs` an equal one was written by us.
   */
  async #meet(refused: ReadonlyMap<NewZnode, unknown>, mayBeOurs: boolean): Promise<void> {
    const { onConflict } = this.#options;
    const znodes = [...refused.keys()];
    const found = await this.#settle(znodes, ({ path }) =>
      this.#session.getData(path, { signal: this.#signal }),
    );
    const changed: NewZnode[] = [];
    for (const [index, outcome] of found.entries()) {
      const znode = znodes[index] as NewZnode;
      if (outcome.status === "rejected") {
        // It does not exist, or may not be read: the refusal of the create is the reason to name.
        this.#fail(znode.path, refused.get(znode));
        continue;
      }
      const isEqual = hasEqualData(outcome.value.data, znode.data);
      if (isEqual && mayBeOurs) this.#wrote(1);
      else if (isEqual) this.#counts.unchanged += 1;
      else if (onConflict === "skip") this.#counts.skipped += 1;
      else if (onConflict === "overwrite") changed.push(znode);
      else {
        throw existsWithOtherData(znode.path);
      }
      this.#progress();
      const isKept = !isEqual && onConflict === "skip";
      if (znode.acl !== undefined && !isKept) this.#acls.push({ path: znode.path, acl: znode.acl });
    }
    if (changed.length > 0) await this.#overwrite(changed);
  }

  async #overwrite(znodes: readonly NewZnode[]): Promise<void> {
    this.#counts.overwritten += await this.#change(znodes, ({ path, data }) =>
      this.#session.setData(path, data, { signal: this.#signal }),
    );
    this.#progress();
  }

  async #setAcls(changes: readonly AclChange[]): Promise<void> {
    await this.#change(changes, ({ path, acl }) =>
      this.#session.setAcl(path, acl, { signal: this.#signal }),
    );
  }

  /**
   * Sends one request for each znode, and once more where the connection broke before the answer:
   * these requests may be done twice. Returns how many were done; the others are failures.
   */
  async #change<Change extends { readonly path: string }>(
    changes: readonly Change[],
    request: (change: Change) => Promise<unknown>,
    losses = 0,
  ): Promise<number> {
    const outcomes = await this.#settle(changes, request);
    const again: Change[] = [];
    let done = 0;
    for (const [index, outcome] of outcomes.entries()) {
      const change = changes[index] as Change;
      if (outcome.status === "fulfilled") done += 1;
      else if (mayHaveBeenDone(outcome.reason) && losses < MAX_LOSSES) again.push(change);
      else this.#fail(change.path, outcome.reason);
    }
    return again.length === 0 ? done : done + (await this.#change(again, request, losses + 1));
  }

  async #raiseCounter({ path, next }: { path: string; next: number }): Promise<void> {
    try {
      await raiseSequenceCounter(this.#session, path, next, this.#signal);
    } catch (error) {
      if (error instanceof InterruptedError) throw error;
      this.#failures.push({ path, error: refusalOf(error) });
    }
  }

  async #settle<Item, T>(
    items: readonly Item[],
    ask: (item: Item) => Promise<T>,
  ): Promise<PromiseSettledResult<T>[]> {
    const requests = items.map(ask);
    const outcomes = await Promise.allSettled(requests);
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled" || !(outcome.reason instanceof InterruptedError)) continue;
      this.#singles = requests.map((request) => ({ outcome: request, znodes: 1 }));
      throw outcome.reason;
    }
    return outcomes;
  }

  #fail(path: string, reason: unknown): void {
    if (mayHaveBeenDone(reason)) throw reason;
    this.#failures.push({ path, error: refusalOf(reason) });
  }

  #wrote(znodes: number): void {
    this.#counts.created += znodes;
    this.#progress();
  }

  #progress(): void {
    const { created, overwritten, unchanged, skipped } = this.#counts;
    this.#options.onProgress?.(created + overwritten + unchanged + skipped);
  }
}
