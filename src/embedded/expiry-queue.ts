/**
 * Things that are over at a certain time unless they are put off again. Times are rounded up to the
 * next multiple of an interval, so that everything that ends in the same interval ends together,
 * and putting off costs next to nothing.
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

  /** Adds a thing, or puts it off, until `ms` from now at the earliest. */
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

  /** How long until there is something to look at. */
  waitMs(now: number): number {
    return Math.max(0, this.#next - now);
  }

  /** Removes and returns what is over, earliest first. */
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

  /** What ends when, earliest first. */
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
