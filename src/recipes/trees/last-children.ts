/** Which znodes of a walk are the last of their parent, as drawn trees show it. */
import { joinPath, parentPath } from "../../session/path.ts";
import type { Visit } from "./walk.ts";

/**
 * Takes a walk's visits, then the paths in depth-first order. Memory holds the levels above the
 * current path and visits that are still ahead.
 */
export class LastChildren {
  readonly #lastOf = new Map<string, string>();
  /** The paths from the root's child down to the current one, and whether each is the last. */
  #branch: { readonly path: string; readonly isLast: boolean }[] = [];

  add(visits: readonly Visit[]): void {
    for (const { path, children } of visits) {
      const last = children.at(-1);
      if (last !== undefined) this.#lastOf.set(path, joinPath(path, last));
    }
  }

  /** For each level between the root and `path`: whether the branch is the last of its parent. */
  branch(path: string, root: string): boolean[] {
    if (path === root) return [];
    const parent = parentPath(path);
    while (this.#branch.length > 0 && this.#branch.at(-1)?.path !== parent) {
      const left = this.#branch.pop();
      if (left) this.#lastOf.delete(left.path);
    }
    this.#branch.push({ path, isLast: this.#lastOf.get(parent) === path });
    return this.#branch.map(({ isLast }) => isLast);
  }
}
