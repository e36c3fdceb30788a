import { LockError } from "../../errors.ts";

/**
 * A program that runs as another user and cannot be stopped, although its lock is lost: zksh reports
 * it and ends.
 */
export class Unstoppable {
  /** Rejects when that happens; never resolves. */
  readonly told: Promise<never>;
  #reject: (error: LockError) => void = () => {};

  constructor() {
    this.told = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.told.catch(() => {});
  }

  /** Called when the lock is lost and these processes could not be killed. */
  lost(path: string, [pid]: readonly number[] = []): void {
    if (pid === undefined) return;
    const message = `lost ${path}, but process ${pid} still runs: it belongs to another user, and zksh may not stop it`;
    const hint = `run zksh as that user too: sudo zksh lock ${path} -- COMMAND`;
    this.#reject(new LockError("lock-lost", message, { path, hint, lostReason: "session-lost" }));
  }
}
