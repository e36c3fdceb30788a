import { NoNodeError, UsageError } from "../../errors.ts";
import { baseName, parentPath } from "../../session/path.ts";
import type { MultiOp, Session } from "../../session/session.ts";
import { HeldLock, lockLost } from "./held-lock.ts";
import { decodeRecord, encodeRecord } from "./holder-record.ts";
import type { AcquireOptions, LockOptions } from "./lock-recipe.ts";
import { listTickets } from "./queue/list-tickets.ts";
import { OwnTicket } from "./queue/own-ticket.ts";
import { QueueLock, type QueueLockShape } from "./queue/queue-lock.ts";
import { removeZnodes } from "./queue/remove-znodes.ts";
import { ConnectionLosses, isUnanswered, untilAnswered } from "./queue/retry-unanswered.ts";
import type { OwnedZnodes } from "./queue/ticket.ts";

const LABELS = {
  read: { curator: "__READ__", kazoo: "__rlock__" },
  write: { curator: "__WRIT__", kazoo: "__lock__" },
} as const;

function side(mode: "read" | "write"): QueueLockShape {
  return { claim: mode, mode, labels: LABELS[mode] };
}

/**
 * Readers together, writers alone, first come first served: a writer that waits is not overtaken by
 * later readers. Respects and is respected by a Mutex on the same path and by Curator's
 * InterProcessReadWriteLock; with `compat: "all"` also by kazoo's.
 *
 * @example
 * ```ts
 * const lock = new ReadWriteLock(session, "/locks/db");
 * const reading = await lock.read.acquire();
 * await reading.release();
 * const writing = await lock.write.acquire();
 * await writing.release();
 * ```
 */
export class ReadWriteLock {
  readonly read: QueueLock;
  readonly write: WriteSide;
  readonly #session: Session;
  readonly #options: LockOptions;

  constructor(session: Session, path: string, options: LockOptions = {}) {
    this.#session = session;
    this.#options = options;
    this.read = new QueueLock(session, path, side("read"), options);
    this.write = new WriteSide(session, path, side("write"), options);
  }

  /**
   * From the write to the read side, without another holder in between: as Curator from 5.5 on, the read
   * ticket gets the number of the write ticket, in one transaction. `held` is over with it.
   */
  async downgrade(held: HeldLock): Promise<HeldLock> {
    const { path } = this.write;
    if (held.mode !== "write" || held.path !== path) {
      throw new UsageError(`only the write side of ${path} can become the read side`);
    }
    if (held.count !== 1)
      throw new UsageError(`${path} is held ${held.count} times: release the others first`);
    const owned = await held
      .exchange(() => this.#exchange(held))
      .catch((error: unknown) => {
        throw error instanceof NoNodeError ? lockLost(path, "node-deleted") : error;
      });
    const [session, onEvent, waitedMs] = [
      this.#session,
      this.#options.onEvent ?? (() => {}),
      held.waitedMs,
    ];
    const own = new OwnTicket(session, path, owned);
    try {
      const [node] = owned.nodes;
      onEvent({
        event: "acquired",
        path,
        node,
        token: owned.token,
        waitedMs,
        mode: "read",
        hasWaited: false,
      });
    } catch (error) {
      // The caller never gets the lock, so it is released here.
      await removeZnodes(session, owned.nodes);
      throw error;
    }
    return new HeldLock({ session, path, mode: "read", owned, own, waitedMs, onEvent });
  }

  async #exchange(held: HeldLock): Promise<OwnedZnodes> {
    const session = this.#session;
    const { acl } = this.#options;
    const data = asReader((await untilAnswered(() => session.getData(held.nodePath))).data);
    const nodes = held.nodePaths.map(toReader) as [string, ...string[]];
    const ops = held.nodePaths.flatMap((node): MultiOp[] => [
      { op: "create", path: toReader(node), data, mode: "ephemeral", ...(acl && { acl }) },
      { op: "delete", path: node },
    ]);
    for (const losses = new ConnectionLosses(); ; ) {
      try {
        const { zxid } = await session.multi(ops);
        return { nodes, token: zxid };
      } catch (error) {
        if (!isUnanswered(error)) throw error;
        const owned = await this.#findAgain(nodes);
        if (owned) return owned;
        const final = losses.add(error, held.path);
        if (final) throw final;
      }
    }
  }

  /** Whether the transaction whose reply was lost has taken place. */
  async #findAgain(nodes: OwnedZnodes["nodes"]): Promise<OwnedZnodes | undefined> {
    const session = this.#session;
    const [first] = nodes;
    await untilAnswered(() => session.sync(first));
    const { children } = await listTickets(session, parentPath(first), {});
    if (!children.includes(baseName(first))) return undefined;
    const { stat } = await untilAnswered(() => session.getData(first));
    return stat.ephemeralOwner === session.id ? { nodes, token: stat.czxid } : undefined;
  }
}

/**
 * The side of a read-write lock that is held alone.
 *
 * @example
 * ```ts
 * const lock = new ReadWriteLock(session, "/locks/db");
 * const held = await lock.write.acquire();
 * const reading = await lock.downgrade(held);
 * ```
 */
export class WriteSide extends QueueLock {
  /**
   * As everywhere; `holding` is what the caller has of the same lock, and cannot keep: it would
   * wait for itself.
   */
  override async acquire(
    options: AcquireOptions & { readonly holding?: HeldLock } = {},
  ): Promise<HeldLock> {
    const { holding } = options;
    if (holding?.path === this.path && holding.mode === "read" && holding.isHeld()) {
      throw new UsageError(`a read lock cannot become a write lock: ${this.path}`, {
        path: this.path,
        hint: "release the read lock first; another client may then write before you",
      });
    }
    if (holding?.path === this.path && holding.mode === "write" && holding.isHeld())
      return holding.again();
    return super.acquire(options);
  }
}

function asReader(data: Buffer | null): Buffer | null {
  const record = decodeRecord(data);
  return record ? encodeRecord({ ...record, mode: "read" }) : data;
}

function toReader(node: string): string {
  return node
    .replace(new RegExp(`${LABELS.write.curator}(?=-?\\d+$)`), LABELS.read.curator)
    .replace(new RegExp(`${LABELS.write.kazoo}(?=-?\\d+$)`), LABELS.read.kazoo);
}
