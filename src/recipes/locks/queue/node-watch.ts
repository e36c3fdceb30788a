import type { AutoResetEvent } from "../../../async/auto-reset-event.ts";
import { startTimer } from "../../../async/timer.ts";
import { NoNodeError, PermissionError } from "../../../errors.ts";
import { baseName, parentPath } from "../../../session/path.ts";
import type { Data, Session, WatchEvent } from "../../../session/session.ts";
import { untilAnswered } from "./retry-unanswered.ts";
import { sessionLost } from "./ticket.ts";

/** How often to look where nobody may watch the znode. */
const BLIND_POLL_MS = 5_000;

/** The watch on the one znode that stands in the way; it may be another one each time. */
export class NodeWatch {
  readonly #session: Session;
  readonly #bell: AutoResetEvent;
  #path = "";
  /** What the watch is on: the znode, or its parent where the znode may not be read. */
  #watched: string | undefined;
  #isGone = false;
  #hasChanged = false;
  #data: Data | undefined;

  /** The bell is rung when there is something to hear; others may ring it too. */
  constructor(session: Session, bell: AutoResetEvent) {
    this.#session = session;
    this.#bell = bell;
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
      return this.#setBlind(path, signal);
    }
  }

  /**
   * Resolves when the bell has rung, after `pollMs` at the latest. Throws when the session is over.
   */
  async heard(signal: AbortSignal | undefined, pollMs?: number): Promise<void> {
    const isBlind = this.#watched !== this.#path;
    const poll = isBlind ? BLIND_POLL_MS : pollMs;
    const stopTimer = poll === undefined ? undefined : startTimer(poll, () => this.#bell.ring());
    try {
      await this.#bell.heard(signal);
    } finally {
      stopTimer?.();
    }
    if (this.#session.state === "lost") throw sessionLost();
  }

  /** Not awaited: leaving must not take longer because a server is slow. */
  leave(): void {
    const watched = this.#watched;
    this.#watched = undefined;
    if (watched === undefined || this.#session.state === "lost") return;
    this.#session.removeWatch(watched, this.#listener).catch(() => {});
  }

  /** The server sends no events of what may not be read; those of the parent's children it does. */
  async #setBlind(path: string, signal: AbortSignal | undefined): Promise<boolean> {
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
    this.#bell.ring();
  };
}
