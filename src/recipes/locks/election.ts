import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import { NoNodeError, PermissionError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { CallOptions, Data, Session, WatchListener } from "../../session/session.ts";
import type { HeldLock } from "./held-lock.ts";
import { describeParty, type Party } from "./holder-record.ts";
import type { AcquireOptions, LockOptions } from "./lock-recipe.ts";
import { type Contender, parseContenders } from "./queue/contender.ts";
import { QueueLock, type QueueLockShape } from "./queue/queue-lock.ts";
import { untilAnswered } from "./queue/retry-unanswered.ts";
import { sessionLost } from "./queue/ticket.ts";

const LATCH: QueueLockShape = {
  claim: "latch",
  mode: "leader",
  labels: { curator: "latch-" },
};

/** As for every lock, and a name for the candidate. */
export interface ElectionOptions extends LockOptions {
  /**
   * What others see of a candidate, as Curator's LeaderLatch has it; left out: the holder's record.
   */
  readonly id?: string;
}

/**
 * One leader, and the candidates who queue behind it. Candidates and leaders of Curator's
 * LeaderLatch take part.
 *
 * @example
 * ```ts
 * const leading = await new Election(session, "/election", { id: "web1" }).acquire();
 * leading.signal.addEventListener("abort", stopWork);
 * ```
 */
export class Election extends QueueLock {
  constructor(session: Session, path: string, { id, ...options }: ElectionOptions = {}) {
    super(session, path, LATCH, id === undefined ? options : { ...options, data: Buffer.from(id) });
  }

  /** Stands until elected; leads until the lock is released or lost. */
  campaign(options?: AcquireOptions): Promise<HeldLock> {
    return this.acquire(options);
  }

  /** Who leads now. */
  async leader(options: CallOptions = {}): Promise<Party | undefined> {
    for (;;) {
      const first = await this.#first(options);
      if (first === undefined) return undefined;
      const found = await this.#read(first, options);
      if (found) return describeParty(this.#pathOf(first), first, found);
    }
  }

  /**
   * Yields the present leader, and then each next one; undefined while there is none. Ends when the
   * signal aborts, throws when the session is over.
   */
  async *observe(signal: AbortSignal): AsyncGenerator<Party | undefined, void> {
    const watches = new Watches(this.session);
    let told: string | undefined;
    try {
      while (!signal.aborted) {
        const leader = await this.#look(watches, signal);
        const news = leader?.node ?? "";
        if (news !== told) yield leader;
        told = news;
        await watches.wait(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      watches.leave();
    }
  }

  /** Reads the leader, and watches the znode in which the next change would show. */
  async #look(watches: Watches, signal: AbortSignal): Promise<Party | undefined> {
    const { session, path } = this;
    for (;;) {
      const first = await this.#first({ signal });
      if (first) {
        const found = await this.#read(first, { signal }, watches);
        if (found) return describeParty(this.#pathOf(first), first, found);
        continue;
      }
      const stat = await untilAnswered(() =>
        session.exists(path, { signal, watch: watches.on(path) }),
      );
      if (stat === undefined) return undefined;
      const isStill = (await this.#first({ signal, watch: watches.on(path) })) === undefined;
      if (isStill) return undefined;
    }
  }

  async #first(options: CallOptions & { watch?: WatchListener }): Promise<Contender | undefined> {
    try {
      const children = await untilAnswered(() => this.session.getChildren(this.path, options));
      return parseContenders(children).find(({ claim }) => claim === LATCH.claim);
    } catch (error) {
      if (error instanceof NoNodeError) return undefined;
      throw error;
    }
  }

  /**
   * Undefined when it is gone. What may not be read still has a stat; of its end its parent's
   * children tell.
   */
  async #read(
    contender: Contender,
    options: CallOptions,
    watches?: Watches,
  ): Promise<Data | undefined> {
    const { session, path } = this;
    const node = this.#pathOf(contender);
    const watching = (on: string) => ({ ...options, ...(watches && { watch: watches.on(on) }) });
    try {
      return await untilAnswered(() => session.getData(node, watching(node)));
    } catch (error) {
      if (error instanceof NoNodeError) return undefined;
      if (!(error instanceof PermissionError)) throw error;
      const children = await untilAnswered(() => session.getChildren(path, watching(path)));
      const stat = await untilAnswered(() => session.exists(node, options));
      return stat && children.includes(contender.name) ? { data: null, stat } : undefined;
    }
  }

  #pathOf({ name }: Contender): string {
    return joinPath(this.path, name);
  }
}

/** The watches of one observer. */
class Watches {
  readonly #session: Session;
  readonly #changed = new AutoResetEvent();
  readonly #paths = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  on(path: string): WatchListener {
    this.#paths.add(path);
    return this.#listener;
  }

  async wait(signal: AbortSignal): Promise<void> {
    await this.#changed.wait(signal);
    if (this.#session.state === "lost") throw sessionLost();
  }

  leave(): void {
    if (this.#session.state === "lost") return;
    for (const path of this.#paths) this.#session.removeWatch(path, this.#listener).catch(() => {});
  }

  readonly #listener: WatchListener = ({ type, path }) => {
    if (type === "deleted") this.#paths.delete(path);
    this.#changed.set();
  };
}
