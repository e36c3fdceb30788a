/**
 * The state of the server, and all changes to it. Each change runs within one turn of the event
 * loop, so zxids, events and replies have one total order.
 */
import type { CheckedChange } from "./check-changes.ts";
import type { Dialect } from "./dialect.ts";
import { type Session, Sessions } from "./sessions.ts";
import { type Moment, Tree } from "./tree.ts";
import { Watches } from "./watches.ts";
import type { Znode } from "./znode.ts";

export interface ServerStateOptions {
  readonly tickTimeMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly enforceQuotas: boolean;
  /** Clients may log in by SASL, and ACLs may name them. */
  readonly doesSasl: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly dialect: Dialect;
}

export class ServerState {
  readonly options: ServerStateOptions;
  readonly watches = new Watches();
  readonly tree: Tree;
  readonly sessions: Sessions;
  #zxid = 0n;

  constructor(options: ServerStateOptions) {
    this.options = options;
    this.tree = new Tree(this.watches, options.dialect);
    this.sessions = new Sessions(options.tickTimeMs, options.now);
  }

  get lastZxid(): bigint {
    return this.#zxid;
  }

  /** Begins a transaction. A failed transaction uses a zxid too. */
  begin(): Moment {
    return { zxid: ++this.#zxid, time: Date.now() };
  }

  /** Applies a checked change. Returns the znode, or undefined if it was deleted. */
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

  /** Limits a session timeout to the bounds of the settings. */
  negotiate(timeoutMs: number): number {
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.options;
    return Math.min(Math.max(timeoutMs, minSessionTimeoutMs), maxSessionTimeoutMs);
  }

  openSession(timeoutMs: number): Session {
    this.begin();
    return this.sessions.open(timeoutMs);
  }

  /** Ends a session and deletes its ephemeral znodes. The caller closes its connection. */
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
   * Deletes containers that have become empty, and childless TTL znodes that have not changed for
   * their TTL.
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
  // A container that never had a child is kept.
  if (lifetime.kind === "container") return creates > 0;
  return lifetime.kind === "ttl" && now - mtime > lifetime.ttlMs;
}
