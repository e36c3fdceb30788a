/**
 * For views of a queue: a picture that is painted again every second must not look alive while no
 * server answers.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Session } from "../../../session/session.ts";

/** What a view is told beside the queue. */
export interface Answered {
  /** No server has answered since then, in milliseconds since the epoch: nothing new is known. */
  readonly unansweredSince?: number;
}

/** Follows whether servers answer a session, until it is told to stop. */
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

  /** Whether servers have answered since then without a gap. */
  haveComeSince(time: number): boolean {
    return this.#since === undefined && this.#answeredAgainAt < time;
  }
}

/** The result of `work`; until that is there, `tick` is told every `tickMs` where that is given. */
export async function* tickUntil<T, Told>(
  work: Promise<T>,
  tick: () => Told,
  { tickMs, signal }: { readonly tickMs: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<Told, T> {
  if (tickMs === undefined) return await work;
  const done = work.then((value) => ({ value }));
  // Its error surfaces in the race; one that comes after an abort has no reader.
  done.catch(() => {});
  for (;;) {
    const result = await Promise.race([done, pause(tickMs, undefined, { signal, ref: false })]);
    if (result) return result.value;
    yield tick();
  }
}
