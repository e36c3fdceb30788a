/** How long the lists of children of a tree are on the wire: `du` and `doctor` warn of long ones. */
import { joinPath, parentPath } from "../../session/path.ts";
import type { TreeEntry } from "./read-tree.ts";

/** A name's length takes four bytes on the wire, and so does the number of names. */
const BYTES_PER_LENGTH = 4;

export interface ChildList {
  readonly path: string;
  /** By the stat of the parent. */
  readonly children: number;
  /** Of the names that have been seen, as a server sends them. */
  readonly bytes: number;
}

/** Memory holds the parents above the current znode. */
export class ChildLists {
  readonly #open: { readonly path: string; readonly children: number; bytes: number }[] = [];

  /** Takes a tree depth first; yields the parents whose children have all been seen. */
  *add(path: string, { numChildren }: TreeEntry["stat"]): Generator<ChildList> {
    const parent = parentPath(path);
    for (let last = this.#open.at(-1); last && last.path !== parent; last = this.#open.at(-1)) {
      if (parent.startsWith(joinPath(last.path, ""))) break;
      this.#open.pop();
      yield last;
    }
    const open = this.#open.at(-1);
    if (open?.path === parent)
      open.bytes +=
        Buffer.byteLength(path) - Buffer.byteLength(joinPath(parent, "")) + BYTES_PER_LENGTH;
    if (numChildren > 0) this.#open.push({ path, children: numChildren, bytes: BYTES_PER_LENGTH });
  }

  /** The parents that are left when the tree has ended, or when its reader stops early. */
  *end(): Generator<ChildList> {
    yield* this.#open.splice(0);
  }
}
