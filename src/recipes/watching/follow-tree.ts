/**
 * Watches a znode and everything below it. Makes nothing; needs a server from 3.6 on.
 *
 * One recursive watch names the znodes that something has happened to; each is read, compared with
 * what was told of it last, and told with its newest data. The server does not report what a
 * recursive watch missed during an outage, so after `rearmed`, and at the beginning, the whole tree
 * is read. Leaving the loop takes the watch off.
 */

import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import { NoNodeError } from "../../errors.ts";
import type { ReadResult, Session, WatchEvent } from "../../session/session.ts";
import { childPaths, walk } from "../trees/walk.ts";
import type { Follower, Notice, WatchedChange } from "./watched-changes.ts";

/** Znodes read in one request: their data, up to 1 MB each, is in memory together. */
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
    const bell = new AutoResetEvent();
    const touched = new Set<string>();
    let isLost = false;
    let mustScan = true;
    const listener = ({ type, path }: WatchEvent) => {
      if (type === "lost") isLost = true;
      else if (type === "rearmed") mustScan = true;
      else touched.add(path);
      bell.ring();
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
        if (touched.size === 0 && !mustScan) await bell.heard(signal);
      }
    } finally {
      // Not awaited: leaving must not take longer because a server is slow.
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
    // Those that were not listed may be below a znode that cannot be listed any more: the server is
    // asked.
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
