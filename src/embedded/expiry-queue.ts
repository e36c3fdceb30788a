/**
 * A queue of things that expire at a deadline unless the deadline is moved. Deadlines are rounded
 * up to a multiple of an interval: everything in one interval expires together, and most moves cost
 * one comparison. ZooKeeper's ExpiryQueue works in the same way.
 */
export class ExpiryQueue<Thing> {
  readonly #intervalMs: number;
  readonly #buckets = new Map<number, Set<Thing>>();
  readonly #deadlines = new Map<Thing, number>();
  #next: number;

  constructor(intervalMs: number, now: number) {
    this.#intervalMs = intervalMs;
    this.#next = this.#roundUp(now);
  }

  /** Adds a thing or moves its deadline: it expires `ms` after `now` at the earliest. */
  update(thing: Thing, ms: number, now: number): void {
    const deadline = this.#roundUp(now + ms);
    const previous = this.#deadlines.get(thing);
    if (deadline === previous) return;
    if (previous !== undefined) this.#take(thing, previous);
    this.#deadlines.set(thing, deadline);
    const bucket = this.#buckets.get(deadline);
    if (bucket === undefined) this.#buckets.set(deadline, new Set([thing]));
    else bucket.add(thing);
  }

  remove(thing: Thing): void {
    const deadline = this.#deadlines.get(thing);
    if (deadline === undefined) return;
    this.#deadlines.delete(thing);
    this.#take(thing, deadline);
  }

  /** The time until the next interval ends. */
  waitMs(now: number): number {
    return Math.max(0, this.#next - now);
  }

  /** Removes and returns the expired things, earliest first. */
  takeExpired(now: number): Thing[] {
    const expired: Thing[] = [];
    for (; this.#next <= now; this.#next += this.#intervalMs) {
      for (const thing of this.#buckets.get(this.#next) ?? []) {
        this.#deadlines.delete(thing);
        expired.push(thing);
      }
      this.#buckets.delete(this.#next);
    }
    return expired;
  }

  /** The things by deadline, earliest first. */
  get buckets(): [deadline: number, things: ReadonlySet<Thing>][] {
    return [...this.#buckets].sort(([a], [b]) => a - b);
  }

  deadlineOf(thing: Thing): number | undefined {
    return this.#deadlines.get(thing);
  }

  #take(thing: Thing, deadline: number): void {
    const bucket = this.#buckets.get(deadline);
    bucket?.delete(thing);
    if (bucket?.size === 0) this.#buckets.delete(deadline);
  }

  #roundUp(time: number): number {
    return (Math.floor(time / this.#intervalMs) + 1) * this.#intervalMs;
  }
}
