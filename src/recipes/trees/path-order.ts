/** Orders the paths of a tree for output while the walk goes on. */
import { joinPath, parentPath } from "../../session/path.ts";
import type { Visit } from "./walk.ts";

/**
 * The children of one znode are written in pieces of this many: a write stays below a few hundred
 * kilobytes.
 */
const PATHS_PER_PIECE = 4_000;

export interface PathOrder {
  /**
   * Takes a group of visits; yields the paths whose place in the order is now certain, in pieces.
   */
  add(visits: readonly Visit[]): Generator<string[]>;
  /** Yields the remaining paths after the walk. */
  end(): Generator<string[]>;
}

/** zkCli's order: a znode's children together, then what is below each of them. */
export class WalkOrder implements PathOrder {
  #hasBegun = false;

  *add(visits: readonly Visit[]): Generator<string[]> {
    let piece: string[] = [];
    for (const visit of visits) {
      if (!this.#hasBegun) piece.push(visit.path);
      this.#hasBegun = true;
      for (const name of visit.children) {
        if (piece.length >= PATHS_PER_PIECE) {
          yield piece;
          piece = [];
        }
        piece.push(joinPath(visit.path, name));
      }
    }
    if (piece.length > 0) yield piece;
  }

  *end(): Generator<string[]> {}
}

/** A znode whose children are being written. */
interface Open {
  readonly visit: Visit;
  /** The number of its children that have been written. */
  written: number;
}

/**
 * Depth first: each znode directly before the znodes below it. The walk visits znodes with children
 * in the same order, so a visit shows that the siblings before it have no children. Memory holds
 * the siblings on the path to the current znode.
 */
export class DepthFirstOrder implements PathOrder {
  readonly #open: Open[] = [];
  #piece: string[] = [];

  *add(visits: readonly Visit[]): Generator<string[]> {
    for (const visit of visits) {
      const parent = yield* this.#closeUpTo(visit.path);
      if (parent === undefined) this.#piece.push(visit.path);
      else
        yield* this.#write(
          parent,
          parent.visit.children.indexOf(nameIn(parent, visit), parent.written) + 1,
        );
      this.#open.push({ visit, written: 0 });
    }
    for (let here = this.#open.at(-1); here !== undefined; here = this.#open.at(-1)) {
      yield* this.#write(here, here.visit.settled ?? 0);
      if (here.written < here.visit.children.length) break;
      this.#open.pop();
    }
    yield* this.#rest();
  }

  *end(): Generator<string[]> {
    for (let last = this.#open.pop(); last !== undefined; last = this.#open.pop()) {
      yield* this.#write(last, last.visit.children.length);
    }
    yield* this.#rest();
  }

  /**
   * Yields the paths that the walk has finished before `path`; returns the parent of `path`, or
   * undefined for the root.
   */
  *#closeUpTo(path: string): Generator<string[], Open | undefined> {
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (last.visit.path === parentPath(path)) return last;
      yield* this.#write(last, last.visit.children.length);
      this.#open.pop();
    }
    return undefined;
  }

  *#write(open: Open, end: number): Generator<string[]> {
    const { path, children } = open.visit;
    for (; open.written < end; open.written++) {
      if (this.#piece.length >= PATHS_PER_PIECE) yield* this.#rest();
      this.#piece.push(joinPath(path, children[open.written] as string));
    }
  }

  *#rest(): Generator<string[]> {
    if (this.#piece.length > 0) yield this.#piece;
    this.#piece = [];
  }
}

function nameIn({ visit: { path: parent } }: Open, { path }: Visit): string {
  return path.slice(parent === "/" ? 1 : parent.length + 1);
}
