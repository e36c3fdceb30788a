/**
 * One well-known ephemeral znode: the client that creates it holds the lock. For paths that other
 * programs lock that way. There is no queue: a release wakes all waiters, and the fastest gets it.
 */
import { randomUUID } from "node:crypto";
import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import {
  DeadlineError,
  InterruptedError,
  NoNodeError,
  PermissionError,
  UsageError,
} from "../../errors.ts";
import { baseName, parentPath } from "../../session/path.ts";
import type { CallOptions, Session } from "../../session/session.ts";
import type { Contending } from "./events.ts";
import { HeldLock } from "./held-lock.ts";
import { describeParty } from "./holder-record.ts";
import { type Attempt, busy, type LockOptions, LockRecipe } from "./lock-recipe.ts";
import { awaitLease } from "./queue/await-lease.ts";
import { isNodeExists, makePaths } from "./queue/create-lock-path.ts";
import { NodeWatch } from "./queue/node-watch.ts";
import { OwnTicket } from "./queue/own-ticket.ts";
import { type Removed, unlessSessionEnds } from "./queue/remove-znodes.ts";
import { ConnectionLosses, isUnanswered, untilAnswered } from "./queue/retry-unanswered.ts";
import type { OwnedZnodes } from "./queue/ticket.ts";

/**
 * An exclusive lock that is one ephemeral znode at the path itself. Waiters do not queue: all of
 * them try again when it is gone.
 *
 * @example
 * ```ts
 * const held = await new UniqueLock(session, "/master").acquire();
 * await held.release();
 * ```
 */
export class UniqueLock extends LockRecipe<HeldLock> {
  readonly path: string;

  constructor(session: Session, path: string, options?: LockOptions) {
    super(session, [path], "exclusive", options);
    if (options?.compat === "all")
      throw new UsageError("compat 'all' is not possible for a unique lock");
    this.path = path;
  }

  get name(): string {
    return this.path;
  }

  protected async take(attempt: Attempt): Promise<HeldLock> {
    const id = randomUUID();
    for (let hasWaited = false; ; hasWaited = true) {
      // The time of acquisition is written with the create: a later write could hit another
      // client's znode.
      const mine = attempt.data({ id, acquired: new Date().toISOString() });
      const owned = await this.#create(mine, attempt.signal);
      if (owned) return await this.#hold(owned, attempt, hasWaited);
      if (hasWaited) this.tell({ event: "outrun", path: this.path });
      await this.#untilFree(attempt);
    }
  }

  /** Undefined when another client has created it. */
  async #create(mine: Buffer, signal: AbortSignal | undefined): Promise<OwnedZnodes | undefined> {
    const { path, session } = this;
    const { acl, pathAcl = acl, mustExist } = this.options;
    for (const losses = new ConnectionLosses(); ; ) {
      try {
        signal?.throwIfAborted();
        const create = {
          op: "create",
          path,
          data: mine,
          mode: "ephemeral",
          ...(acl && { acl }),
        } as const;
        const { zxid } = await session.multi([create], { signal });
        return { nodes: [path], token: zxid };
      } catch (error) {
        const final = isUnanswered(error) ? losses.add(error, path) : error;
        if (final === undefined) continue;
        if (error instanceof NoNodeError && !mustExist && parentPath(path) !== "/") {
          await makePaths(session, [{ path: parentPath(path), acl: pathAcl }], "container", {
            signal,
          });
        } else if (isNodeExists(error)) {
          // Perhaps by ourselves: the reply to an earlier try was lost.
          return losses.count > 0 ? await this.#findAgain(mine, signal) : undefined;
        } else {
          const wasCut = error instanceof InterruptedError || error instanceof DeadlineError;
          const outcome = wasCut ? error.outcome : undefined;
          if (losses.count > 0 || outcome) this.cleanup.add(this.#takeBack(mine, outcome));
          throw final;
        }
      }
    }
  }

  async #findAgain(
    mine: Buffer,
    signal: AbortSignal | undefined,
  ): Promise<OwnedZnodes | undefined> {
    try {
      return await this.#find(mine, { signal });
    } catch (error) {
      this.cleanup.add(this.#takeBack(mine));
      throw error;
    }
  }

  /** The znode, if it is the one that was made with `mine` as its data. */
  async #find(mine: Buffer, options: CallOptions): Promise<OwnedZnodes | undefined> {
    const { path, session } = this;
    try {
      const syncing = untilAnswered(() => session.sync(path, options));
      syncing.catch(() => {});
      const { data, stat } = await untilAnswered(() => session.getData(path, options));
      await syncing;
      const isOurs = stat.ephemeralOwner === session.id && data?.equals(mine);
      return isOurs ? { nodes: [path], token: stat.czxid } : undefined;
    } catch (error) {
      if (error instanceof NoNodeError || error instanceof PermissionError) return undefined;
      throw error;
    }
  }

  async #takeBack(mine: Buffer, outcome: Promise<unknown> = Promise.resolve()): Promise<void> {
    await outcome.catch(() => {});
    const owned = await this.#find(mine, {});
    if (owned) await this.#remove(owned);
  }

  async #hold(
    owned: OwnedZnodes,
    { begun, signal }: Attempt,
    hasWaited: boolean,
  ): Promise<HeldLock> {
    const { session, path, mode, tell: onEvent } = this;
    try {
      await awaitLease(session, path, owned, { signal });
    } catch (error) {
      this.cleanup.add(this.#remove(owned));
      throw error;
    }
    const own = new OwnTicket(session, path, owned);
    const waitedMs = performance.now() - begun;
    onEvent({ event: "acquired", path, node: path, token: owned.token, waitedMs, mode, hasWaited });
    const giveBack = async () => (own.isGone ? "missing" : this.#remove(owned));
    return new HeldLock({
      session,
      path,
      mode,
      owned,
      own,
      waitedMs,
      onEvent,
      giveBack,
      isPathShared: true,
    });
  }

  /**
   * A second try must not delete a znode that another client created after the first: all holders
   * use the same name.
   */
  #remove(owned: OwnedZnodes): Promise<Removed> {
    const { path, session } = this;
    return unlessSessionEnds(session, async () => {
      for (let isUnsure = false; ; isUnsure = true) {
        try {
          if (isUnsure && !(await this.#isThere(owned))) return "delete";
          await session.delete(path);
          return "delete";
        } catch (error) {
          if (error instanceof NoNodeError) return isUnsure ? "delete" : "missing";
          if (!isUnanswered(error)) throw error;
        }
      }
    });
  }

  async #isThere({ token }: OwnedZnodes): Promise<boolean> {
    const { path, session } = this;
    await untilAnswered(() => session.sync(path));
    const stat = await untilAnswered(() => session.exists(path));
    return stat?.czxid === token && stat.ephemeralOwner === session.id;
  }

  /** Nothing is looked up for those who follow: the watch on the one znode tells all there is. */
  async #untilFree({ signal, mayWait }: Attempt): Promise<void> {
    const { path, session } = this;
    const watch = new NodeWatch(session, new AutoResetEvent());
    let told = "";
    try {
      while (await watch.set(path, signal)) {
        const holder = await this.#holder(signal);
        if (!mayWait) throw busy(path, holder);
        const news = JSON.stringify([String(holder?.token), holder?.acquiredAt]);
        if (news !== told) this.#tellWaiting(holder);
        told = news;
        await watch.wait(signal);
        if (watch.isGone) return this.#tellGone(holder);
      }
    } finally {
      watch.leave();
    }
  }

  async #holder(signal: AbortSignal | undefined): Promise<Contending | undefined> {
    const { path, session } = this;
    try {
      const found = await untilAnswered(() => session.getData(path, { signal }));
      if (found.stat.numChildren === 0)
        return { ...describeParty(path, undefined, found), mode: this.mode };
    } catch (error) {
      if (error instanceof NoNodeError || error instanceof PermissionError) return undefined;
      throw error;
    }
    throw new UsageError(`${path} has children, so it is not a lock of one znode`, {
      path,
      reason: "not-a-unique-lock",
    });
  }

  #tellGone(holder: Contending | undefined): void {
    const { path } = this;
    const since = holder?.acquiredAt;
    this.tell({
      event: "predecessor-gone",
      path,
      ahead: baseName(path),
      ...(holder && { aheadBy: holder }),
      ...(since !== undefined && { heldMs: Math.max(0, Date.now() - since) }),
    });
  }

  /** Without a position: waiters do not queue, and how many there are cannot be told. */
  #tellWaiting(holder: Contending | undefined): void {
    const { path, mode } = this;
    this.tell({
      event: "waiting",
      path,
      node: path,
      mode,
      inFront: 1,
      ahead: baseName(path),
      watches: "ticket",
      ...(holder && { aheadBy: holder, holder }),
      holders: holder ? [holder] : [],
      holderCount: 1,
      waiters: [],
      waiterCount: 0,
    });
  }
}
