/**
 * Watches one znode: its existence, its data and the names of its children. Creates no znodes.
 *
 * Each round reads the znode with one-shot watches, yields the differences from the last round, and
 * waits until a watch fires. Several changes between two rounds become one change with the newest
 * data. No change is lost, because the read that is compared also sets the watch. After a reconnect
 * the session registers one-shot watches again, and the server reports the changes that they
 * missed. Works with every version of ZooKeeper. Leaving the loop removes the watches.
 */

import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import { NoNodeError } from "../../errors.ts";
import type { ReadOptions, Session, Stat, WatchEvent } from "../../session/session.ts";
import type { Follower, WatchedChange } from "./watched-changes.ts";

interface Seen {
  readonly data: Buffer | null;
  readonly stat: Stat;
  readonly children: ReadonlySet<string>;
}

export class ZnodeFollower implements Follower {
  readonly path: string;
  #hasTold = false;
  #known: Seen | undefined;

  constructor(path: string) {
    this.path = path;
  }

  async *follow(session: Session, signal: AbortSignal): AsyncGenerator<WatchedChange> {
    const changed = new AutoResetEvent();
    let isLost = false;
    const watch = ({ type }: WatchEvent) => {
      isLost ||= type === "lost";
      changed.set();
    };
    try {
      while (!isLost) {
        yield* this.#compare(await this.#look(session, { signal, watch }));
        await changed.wait(signal);
      }
    } finally {
      // Not awaited: a slow server must not delay the end of the command.
      if (!isLost) session.removeWatch(this.path, watch).catch(() => {});
    }
  }

  /** Returns undefined if the znode does not exist. Sets a watch in both cases. */
  async #look(session: Session, options: ReadOptions): Promise<Seen | undefined> {
    for (;;) {
      try {
        const [{ data, stat }, names] = await Promise.all([
          session.getData(this.path, options),
          session.getChildren(this.path, options),
        ]);
        return { data, stat, children: new Set(names) };
      } catch (error) {
        if (!(error instanceof NoNodeError)) throw error;
      }
      if ((await session.exists(this.path, options)) === undefined) return undefined;
    }
  }

  *#compare(seen: Seen | undefined): Generator<WatchedChange> {
    const { path } = this;
    const known = this.#known;
    const isFirst = !this.#hasTold;
    this.#known = seen;
    this.#hasTold = true;
    if (isFirst)
      yield seen ? { event: "current", path, ...contents(seen) } : { event: "absent", path };
    else if (known && seen && known.stat.czxid === seen.stat.czxid)
      yield* difference(path, known, seen);
    else {
      if (known) yield { event: "deleted", path };
      if (seen) yield { event: "created", path, ...contents(seen) };
    }
  }
}

function* difference(path: string, known: Seen, seen: Seen): Generator<WatchedChange> {
  if (known.stat.mzxid !== seen.stat.mzxid) yield { event: "changed", path, ...contents(seen) };
  const added = [...seen.children].filter((name) => !known.children.has(name)).sort();
  const removed = [...known.children].filter((name) => !seen.children.has(name)).sort();
  if (added.length + removed.length > 0)
    yield { event: "children", path, ...contents(seen), added, removed };
}

function contents({ data, stat }: Seen): Pick<Seen, "data" | "stat"> {
  return { data, stat };
}
