/** Sums of every subtree in one pass over a tree that comes depth first, for `du`. */
import { parentPath } from "../../session/path.ts";
import type { TreeEntry } from "./read-tree.ts";

export interface Subtree {
  readonly path: string;
  /** Of the data of the znode and everything below it. */
  readonly bytes: number;
  /** The znode itself and everything below it. */
  readonly znodes: number;
  /** Directly below the znode. */
  readonly children: number;
  /** Levels below the root. */
  readonly depth: number;
}

interface OpenSubtree {
  readonly path: string;
  readonly children: number;
  readonly depth: number;
  bytes: number;
  znodes: number;
}

/** Memory holds the znodes above the current one. */
export class TreeSums {
  readonly #root: string;
  readonly #open: OpenSubtree[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** The subtrees that are complete now, each after those below it. */
  *add({ path, stat }: Pick<TreeEntry, "path" | "stat">): Generator<Subtree> {
    while (this.#open.length > 0 && !this.#isAbove(path)) yield this.#close();
    this.#open.push({
      path,
      children: stat.numChildren,
      depth: depthOf(path) - depthOf(this.#root),
      bytes: stat.dataLength,
      znodes: 1,
    });
  }

  /** What is left when the tree has ended: last of all the root. */
  *end(): Generator<Subtree> {
    while (this.#open.length > 0) yield this.#close();
  }

  /** A parent that could not be read is not among the open ones: its parent stands in for it. */
  #isAbove(path: string): boolean {
    const above = this.#open.at(-1)?.path as string;
    for (let parent = path; ; parent = parentPath(parent)) {
      if (parent === above) return true;
      if (parent.length <= above.length) return false;
    }
  }

  #close(): Subtree {
    const done = this.#open.pop() as OpenSubtree;
    const parent = this.#open.at(-1);
    if (parent) {
      parent.bytes += done.bytes;
      parent.znodes += done.znodes;
    }
    return { ...done };
  }
}

function depthOf(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}

/** The `limit` largest of what it has seen, largest first. */
export class Largest<Item> {
  readonly #limit: number;
  readonly #size: (item: Item) => number;
  #items: Item[] = [];
  #least = Number.NEGATIVE_INFINITY;

  constructor(limit: number, size: (item: Item) => number) {
    this.#limit = limit;
    this.#size = size;
  }

  add(item: Item): void {
    const size = this.#size(item);
    if (size <= 0 || (this.#items.length >= this.#limit && size <= this.#least)) return;
    this.#items.push(item);
    // Sorted now and then only: most of a tree is small.
    if (this.#items.length >= this.#limit * 2 + 16) this.#cut();
  }

  get items(): readonly Item[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items.sort((a, b) => this.#size(b) - this.#size(a));
    this.#items = this.#items.slice(0, this.#limit);
    const last = this.#items.at(-1);
    if (last !== undefined && this.#items.length === this.#limit) this.#least = this.#size(last);
  }
}
