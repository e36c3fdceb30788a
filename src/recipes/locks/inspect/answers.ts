/**
 * Tells views of a queue that no server answers: a screen that is redrawn every second must not
 * pass old data for new.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Session } from "../../../session/session.ts";

/** Yielded to a view together with the queue. */
export interface Answered {
  /**
   * Since when no server has answered, in milliseconds since the epoch: the queue may have changed.
   */
  readonly unansweredSince?: number;
}

/** Records whether servers answer a session, until `stop()`. */
export class Answers {
  readonly stop: () => void;
  #since: number | undefined;
  #answeredAgainAt = 0;

  constructor(session: Session) {
    this.#since = session.state === "suspended" ? Date.now() : undefined;
    this.stop = session.onState(({ state }) => {
      if (state === "suspended") this.#since ??= Date.now();
      else if (this.#since !== undefined) {
        this.#since = undefined;
        this.#answeredAgainAt = Date.now();
      }
    });
  }

  now(): Answered {
    return this.#since === undefined ? {} : { unansweredSince: this.#since };
  }

  /** Returns true if servers have answered without a gap since `time`. */
  haveComeSince(time: number): boolean {
    return this.#since === undefined && this.#answeredAgainAt < time;
  }
}

/** Returns the result of `work`. Until then it yields `tick()` every `tickMs`, if given. */
export async function* tickUntil<T, Told>(
  work: Promise<T>,
  tick: () => Told,
  { tickMs, signal }: { readonly tickMs: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<Told, T> {
  if (tickMs === undefined) return await work;
  const done = work.then((value) => ({ value }));
  // Promise.race throws the error of `work`; an error after an abort has no reader.
  done.catch(() => {});
  for (;;) {
    const result = await Promise.race([done, pause(tickMs, undefined, { signal, ref: false })]);
    if (result) return result.value;
    yield tick();
  }
}
