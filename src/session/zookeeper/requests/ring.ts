/**
 * A first-in, first-out queue with constant-time ends: Array.shift on a hundred thousand entries
 * costs a copy each time.
 */
export class Ring<T> {
  #items: (T | undefined)[] = new Array(16);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#length === this.#items.length) this.#grow();
    this.#items[(this.#head + this.#length) & (this.#items.length - 1)] = item;
    this.#length++;
  }

  /** Puts `items`, in their order, before everything else. */
  unshift(items: readonly T[]): void {
    for (let i = items.length - 1; i >= 0; i--) {
      if (this.#length === this.#items.length) this.#grow();
      this.#head = (this.#head - 1) & (this.#items.length - 1);
      this.#items[this.#head] = items[i];
      this.#length++;
    }
  }

  count(matches: (item: T) => boolean): number {
    let count = 0;
    for (let i = 0; i < this.#length; i++) {
      if (matches(this.#items[(this.#head + i) & (this.#items.length - 1)] as T)) count++;
    }
    return count;
  }

  peek(): T | undefined {
    return this.#length === 0 ? undefined : this.#items[this.#head];
  }

  /** The item that `index` others stand before; undefined beyond the end. */
  at(index: number): T | undefined {
    return index < this.#length
      ? this.#items[(this.#head + index) & (this.#items.length - 1)]
      : undefined;
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#items.length - 1);
    this.#length--;
    return item;
  }

  /** Everything, in order; the queue is empty afterwards. */
  drain(): T[] {
    const all: T[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) all.push(item);
    return all;
  }

  #grow(): void {
    const grown = new Array<T | undefined>(this.#items.length * 2);
    for (let i = 0; i < this.#length; i++)
      grown[i] = this.#items[(this.#head + i) & (this.#items.length - 1)];
    this.#items = grown;
    this.#head = 0;
  }
}
