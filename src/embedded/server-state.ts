/**
 * The state of the server and the changes it can go through. Everything happens in one turn of the
 * event loop, one thing after the other: the order of zxids, events and replies is total.
 */
import type { CheckedChange } from "./check-changes.ts";
import { type Session, Sessions } from "./sessions.ts";
import { type Moment, Tree } from "./tree.ts";
import { Watches } from "./watches.ts";
import type { Znode } from "./znode.ts";

export interface ServerStateOptions {
  readonly tickTimeMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly enforceQuotas: boolean;
  /** Milliseconds by a clock that cannot be set. */
  readonly now: () => number;
}

export class ServerState {
  readonly options: ServerStateOptions;
  readonly watches = new Watches();
  readonly tree = new Tree(this.watches);
  readonly sessions: Sessions;
  #zxid = 0n;

  constructor(options: ServerStateOptions) {
    this.options = options;
    this.sessions = new Sessions(options.tickTimeMs, options.now);
  }

  get lastZxid(): bigint {
    return this.#zxid;
  }

  /** The next transaction begins. One that fails has used up its zxid, too. */
  begin(): Moment {
    return { zxid: ++this.#zxid, time: Date.now() };
  }

  /** Makes a change that has been checked; the znode concerned, unless it is gone. */
  apply(change: CheckedChange, moment: Moment): Znode | undefined {
    switch (change.type) {
      case "create":
        return this.tree.create(change, moment);
      case "delete":
        this.tree.delete(change.path, moment.zxid);
        return undefined;
      case "setData":
        return this.tree.setData(change.path, change.data, change.version, moment);
      case "setAcl":
        return this.tree.setAcl(change.path, change.acl, change.version);
      case "check":
        return this.tree.find(change.path);
    }
  }

  /** Within the bounds that the server sets. */
  negotiate(timeoutMs: number): number {
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.options;
    return Math.min(Math.max(timeoutMs, minSessionTimeoutMs), maxSessionTimeoutMs);
  }

  openSession(timeoutMs: number): Session {
    this.begin();
    return this.sessions.open(timeoutMs);
  }

  /** Ends a session, and with it its ephemerals. Its connection is left to the caller. */
  endSession(session: Session): void {
    const { zxid } = this.begin();
    for (const path of [...(this.tree.ephemerals.get(session.id) ?? [])])
      this.tree.delete(path, zxid);
    this.sessions.remove(session);
  }

  expireSessions(): void {
    for (const session of this.sessions.takeExpired()) {
      this.endSession(session);
      session.connection?.destroy();
    }
  }

  /**
   * Deletes containers that have become empty, and childless znodes that have not changed for
   * their time to live.
   */
  reap(): void {
    const now = Date.now();
    const doomed = [...this.tree.reapable].filter((path) => isOver(this.tree.find(path), now));
    for (const path of doomed) this.tree.delete(path, this.begin().zxid);
  }
}

function isOver(znode: Znode | undefined, now: number): boolean {
  if (znode === undefined || znode.childCount > 0) return false;
  const { lifetime, creates, mtime } = znode;
  // A new container is left alone until it has had its first child.
  if (lifetime.kind === "container") return creates > 0;
  return lifetime.kind === "ttl" && now - mtime > lifetime.ttlMs;
}
