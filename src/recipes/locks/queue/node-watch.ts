import type { AutoResetEvent } from "../../../async/auto-reset-event.ts";
import { startTimer } from "../../../async/timer.ts";
import { NoNodeError, PermissionError } from "../../../errors.ts";
import { baseName, parentPath } from "../../../session/path.ts";
import type { Data, Session, WatchEvent } from "../../../session/session.ts";
import { untilAnswered } from "./retry-unanswered.ts";
import { sessionLost } from "./ticket.ts";

/** How often to look where the server tells us nothing: the znode may not be read. */
const UNREADABLE_POLL_MS = 5_000;

/**
 * A watch on one znode at a time: the ticket that blocks ours, or the one znode of a unique lock.
 */
export class NodeWatch {
  readonly #session: Session;
  readonly #changed: AutoResetEvent;
  #path = "";
  /** What is watched: the znode, or its parent where the znode may not be read. */
  #watched: string | undefined;
  #isGone = false;
  #hasChanged = false;
  #data: Data | undefined;

  /** `changed` is set by the watch; other sources of news may set it too. */
  constructor(session: Session, changed: AutoResetEvent) {
    this.#session = session;
    this.#changed = changed;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Its data has changed, and nothing else: it is still there. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** What the znode had when the watch was set; undefined where it may not be read. */
  get data(): Data | undefined {
    return this.#data;
  }

  /** By getData, which unlike exists leaves no watch on a znode that is gone. False when it is. */
  async set(path: string, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#watched !== undefined && this.#path === path) return true;
    this.leave();
    this.#isGone = false;
    this.#hasChanged = false;
    this.#path = path;
    this.#data = undefined;
    try {
      this.#data = await untilAnswered(() =>
        this.#session.getData(path, { watch: this.#listener, signal }),
      );
      this.#watched = path;
      return true;
    } catch (error) {
      if (error instanceof NoNodeError) return false;
      if (!(error instanceof PermissionError)) throw error;
      return this.#watchParent(path, signal);
    }
  }

  /**
   * Resolves when `changed` was set, after `pollMs` at the latest. Throws when the session has
   * ended.
   */
  async wait(signal: AbortSignal | undefined, pollMs?: number): Promise<void> {
    const isUnreadable = this.#watched !== this.#path;
    const poll = isUnreadable ? UNREADABLE_POLL_MS : pollMs;
    const stopTimer = poll === undefined ? undefined : startTimer(poll, () => this.#changed.set());
    try {
      await this.#changed.wait(signal);
    } finally {
      stopTimer?.();
    }
    if (this.#session.state === "lost") throw sessionLost();
  }

  /** The removal of the watch is not awaited: a slow server must not delay the caller. */
  leave(): void {
    const watched = this.#watched;
    this.#watched = undefined;
    if (watched === undefined || this.#session.state === "lost") return;
    this.#session.removeWatch(watched, this.#listener).catch(() => {});
  }

  /**
   * The server sends no events about a znode that may not be read, but about its parent's children.
   */
  async #watchParent(path: string, signal: AbortSignal | undefined): Promise<boolean> {
    const parent = parentPath(path);
    const children = await untilAnswered(() =>
      this.#session.getChildren(parent, { watch: this.#listener, signal }),
    );
    this.#watched = parent;
    if (children.includes(baseName(path))) return true;
    this.leave();
    return false;
  }

  readonly #listener = ({ type, path }: WatchEvent) => {
    this.#watched = undefined;
    if (path === this.#path && type === "deleted") this.#isGone = true;
    if (path === this.#path && type === "data-changed") this.#hasChanged = true;
    this.#changed.set();
  };
}
