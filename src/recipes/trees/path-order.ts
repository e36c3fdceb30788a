/**
 * The paths of a tree in the order in which they are written, made from a walk's visits as they
 * come.
 */
import { joinPath, parentPath } from "../../session/path.ts";
import type { Visit } from "./walk.ts";

/**
 * A znode with a million children is written piece by piece, each a write of a few hundred
 * kilobytes at most.
 */
const PATHS_PER_PIECE = 4_000;

export interface PathOrder {
  /** The paths that are certain to come next, in pieces, after a group of visits. */
  add(visits: readonly Visit[]): Generator<string[]>;
  /** What is left when the walk has ended. */
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
  /** So many of its children have been written. */
  written: number;
}

/**
 * Depth first: each znode right before what is below it. The walk visits the znodes that have
 * children in just this order, so that a visit tells that the siblings before it have none. Memory
 * holds the siblings of where the walk is.
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
   * Writes out the znodes that the walk is done with; returns the parent of `path`, undefined for
   * the root.
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
