/**
 * Deletes in the background what an interrupted or failed acquire has left on the servers, such as
 * a ticket whose create was under way: the deletion waits for a server, its caller does not.
 */
export class BackgroundCleanup {
  readonly #pending = new Set<Promise<unknown>>();

  /** A removal that fails leaves its znodes to the end of the session. */
  add(removal: Promise<unknown>): void {
    const done: Promise<unknown> = removal
      .catch(() => {})
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }

  /** Resolves when no removal is pending. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }
}
