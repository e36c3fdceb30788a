/**
 * Watches a znode and everything below it. Creates no znodes. Needs ZooKeeper 3.6 or later.
 *
 * A recursive watch names each changed znode. The follower reads the znode, compares it with the
 * last report and yields the difference with the newest data. The server does not report the
 * changes that a recursive watch missed during an outage, so the follower reads the whole tree at
 * the start and after each `rearmed` event. Leaving the loop removes the watch.
 */

import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import { NoNodeError } from "../../errors.ts";
import type { ReadResult, Session, WatchEvent } from "../../session/session.ts";
import { childPaths, walk } from "../trees/walk.ts";
import type { Follower, Notice, WatchedChange } from "./watched-changes.ts";

/** How many znodes one request reads: their data, up to 1 MB each, is in memory together. */
const BATCH = 32;

interface Known {
  readonly czxid: bigint;
  readonly mzxid: bigint;
}

export class TreeFollower implements Follower {
  readonly path: string;
  readonly #known = new Map<string, Known>();
  #hasTold = false;

  constructor(path: string) {
    this.path = path;
  }

  async *follow(session: Session, signal: AbortSignal): AsyncGenerator<WatchedChange | Notice> {
    const changed = new AutoResetEvent();
    const touched = new Set<string>();
    let isLost = false;
    let mustScan = true;
    const listener = ({ type, path }: WatchEvent) => {
      if (type === "lost") isLost = true;
      else if (type === "rearmed") mustScan = true;
      else touched.add(path);
      changed.set();
    };
    await session.addWatch(this.path, "recursive", listener, { signal });
    try {
      while (!isLost) {
        const paths = [...touched];
        touched.clear();
        if (mustScan) {
          mustScan = false;
          yield* this.#scan(session, signal);
        } else yield* this.#look(session, paths, signal);
        if (touched.size === 0 && !mustScan) await changed.wait(signal);
      }
    } finally {
      // Not awaited: a slow server must not delay the end of the command.
      if (!isLost) session.removeWatch(this.path, listener).catch(() => {});
    }
  }

  async *#scan(session: Session, signal: AbortSignal): AsyncGenerator<WatchedChange | Notice> {
    const gone = new Set(this.#known.keys());
    const failures: Notice[] = [];
    const onFailure = (path: string, error: Error) =>
      failures.push({ event: "unreadable", path, error });
    try {
      for await (const visits of walk(session, this.path, { signal, onFailure })) {
        const paths = visits.flatMap(childPaths);
        if (visits[0]?.path === this.path) paths.unshift(this.path);
        for (const path of paths) gone.delete(path);
        yield* this.#look(session, paths, signal);
      }
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
      if (!this.#hasTold) yield { event: "absent", path: this.path };
    }
    // A known znode that was not listed is deleted, or its parent cannot be listed any more. A read
    // tells which.
    yield* this.#look(session, [...gone].reverse(), signal);
    yield* failures;
    this.#hasTold = true;
  }

  async *#look(
    session: Session,
    paths: readonly string[],
    signal: AbortSignal,
  ): AsyncGenerator<WatchedChange | Notice> {
    for (let i = 0; i < paths.length; i += BATCH) {
      const ops = paths.slice(i, i + BATCH).map((path) => ({ op: "getData", path }) as const);
      for (const result of await session.multiRead(ops, { signal })) yield* this.#compare(result);
    }
  }

  *#compare(result: ReadResult): Generator<WatchedChange | Notice> {
    const { path } = result;
    const known = this.#known.get(path);
    if (result.op === "error") {
      if (!(result.error instanceof NoNodeError))
        yield { event: "unreadable", path, error: result.error };
      else if (this.#known.delete(path)) yield { event: "deleted", path };
    } else if (result.op === "getData") {
      const { data, stat } = result;
      this.#known.set(path, { czxid: stat.czxid, mzxid: stat.mzxid });
      if (known?.czxid === stat.czxid) {
        if (known.mzxid !== stat.mzxid) yield { event: "changed", path, data, stat };
        return;
      }
      if (known) yield { event: "deleted", path };
      yield { event: this.#hasTold ? "created" : "current", path, data, stat };
    }
  }
}
