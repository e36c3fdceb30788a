/**
 * Watches one znode: its existence, its data, the names of its children. Makes nothing.
 *
 * Each round reads the znode with one-shot watches, tells what differs from the last round, and
 * waits for a watch to fire. What happens between two rounds is told as one change with the newest
 * data; nothing is lost, because the watch is set by the very read that is compared. The session
 * sets one-shot watches again after a reconnect, and the server then reports what they have missed.
 * Works with every server. Leaving the loop takes the watches off.
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
    const bell = new AutoResetEvent();
    let isLost = false;
    const watch = ({ type }: WatchEvent) => {
      isLost ||= type === "lost";
      bell.ring();
    };
    try {
      while (!isLost) {
        yield* this.#compare(await this.#look(session, { signal, watch }));
        await bell.heard(signal);
      }
    } finally {
      // Not awaited: leaving must not take longer because a server is slow.
      if (!isLost) session.removeWatch(this.path, watch).catch(() => {});
    }
  }

  /** Undefined when there is no such znode. A watch is set in any case. */
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
