import { LockError } from "../../errors.ts";

/**
 * A program of another user's that can neither be stopped nor keep its lock: all that is left is to
 * say so, and end.
 */
export class Unstoppable {
  /** Rejects when it has come to that; never resolves. */
  readonly told: Promise<never>;
  #reject: (error: LockError) => void = () => {};

  constructor() {
    this.told = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.told.catch(() => {});
  }

  /** The lock is lost, and these processes could not be killed. */
  lost(path: string, [pid]: readonly number[] = []): void {
    if (pid === undefined) return;
    const message = `lost ${path}, and process ${pid} still runs: it belongs to another user, and zksh may not stop it`;
    const hint = `let zksh run as that user too: sudo zksh lock ${path} -- COMMAND`;
    this.#reject(new LockError("lock-lost", message, { path, hint, lostReason: "session-lost" }));
  }
}
