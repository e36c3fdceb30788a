/**
 * Which znodes of a tree were changed while it was read. A recursive watch tells (servers from 3.6
 * on); where there is none, a znode whose last change is newer than the beginning tells of itself.
 */
import { OperationError } from "../../errors.ts";
import { parentPath } from "../../session/path.ts";
import type { Session, WatchEvent } from "../../session/session.ts";
import type { TreeEntry } from "./read-tree.ts";

/** More are not remembered: the tree is too busy for a list. */
const MAX_REMEMBERED = 10_000;

export class ChangesUnder {
  readonly #session: Session;
  readonly #root: string;
  readonly #changed = new Set<string>();
  /** Their sequence counters changed with a child; their data did not. */
  readonly #parents = new Set<string>();
  #since = 0n;
  #hasGap = false;
  #isWatching = false;

  private constructor(session: Session, root: string) {
    this.#session = session;
    this.#root = root;
  }

  /** Call {@link end} in any case. */
  static async begin(session: Session, root: string, signal: AbortSignal): Promise<ChangesUnder> {
    const changes = new ChangesUnder(session, root);
    try {
      await session.addWatch(root, "recursive", changes.#onEvent, { signal });
      changes.#isWatching = true;
    } catch (error) {
      if (!(error instanceof OperationError) || error.reason !== "unimplemented") throw error;
    }
    changes.#since = session.lastZxid;
    return changes;
  }

  readonly #onEvent = ({ type, path }: WatchEvent): void => {
    if (type === "lost") return;
    // What happened while the watch was not set is unknown.
    if (type === "rearmed") this.#hasGap = true;
    else this.#note(path);
    if ((type === "created" || type === "deleted") && path !== this.#root)
      this.#parents.add(parentPath(path));
  };

  /** A znode that was read. */
  saw({ path, stat }: Pick<TreeEntry, "path" | "stat">): void {
    if (stat.mzxid > this.#since) this.#note(path);
  }

  #note(path: string): void {
    if (this.#changed.size < MAX_REMEMBERED) this.#changed.add(path);
  }

  /** Those that changed until now, in order. Waits for events that are under way. */
  async paths(signal: AbortSignal): Promise<string[]> {
    // An event arrives before any reply that shows the change.
    await this.#session.exists(this.#root, { signal });
    return [...this.#changed].sort();
  }

  /** The same with the parents of created and deleted znodes; counts from here on afresh. */
  async take(signal: AbortSignal): Promise<string[]> {
    const paths = await this.paths(signal);
    const taken = [...new Set([...paths, ...this.#parents])].sort();
    // A list that is full stays, so that it is known to lack changes.
    if (this.#changed.size < MAX_REMEMBERED) this.#changed.clear();
    this.#parents.clear();
    return taken;
  }

  /** Whether the server tells of each change. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** False where changes may have gone unnoticed. */
  get isComplete(): boolean {
    return this.#isWatching && !this.#hasGap && this.#changed.size < MAX_REMEMBERED;
  }

  async end(): Promise<void> {
    if (!this.#isWatching) return;
    // The session may be over, and its watches with it.
    await this.#session.removeWatch(this.#root, this.#onEvent).catch(() => {});
  }
}
