import type { CheckedChange } from "./check-changes.ts";
import { parentOf } from "./paths.ts";
import type { Tree } from "./tree.ts";
import type { ZnodeState } from "./znode.ts";

/**
 * The tree as the changes noted so far would leave it: what the next operation of a multi is
 * checked against.
 */
export class PendingChanges {
  readonly #tree: Tree;
  /** Undefined: deleted. */
  readonly #drafts = new Map<string, ZnodeState | undefined>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  find(asked: string): ZnodeState | undefined {
    const path = asked || "/";
    return this.#drafts.has(path) ? this.#drafts.get(path) : this.#tree.find(path);
  }

  note(change: CheckedChange): void {
    const { type, path } = change;
    switch (type) {
      case "create": {
        const { data, acl, lifetime, parentCreates } = change;
        this.#drafts.set(path, {
          data,
          acl,
          lifetime,
          version: 0,
          aversion: 0,
          creates: 0,
          childCount: 0,
        });
        this.#revise(parentOf(path), ({ childCount }) => ({
          creates: parentCreates,
          childCount: childCount + 1,
        }));
        break;
      }
      case "delete":
        this.#drafts.set(path, undefined);
        this.#revise(parentOf(path), ({ childCount }) => ({ childCount: childCount - 1 }));
        break;
      case "setData":
        this.#revise(path, () => ({ data: change.data, version: change.version }));
        break;
      case "setAcl":
        this.#revise(path, () => ({ acl: change.acl, aversion: change.version }));
        break;
      case "check":
        break;
    }
  }

  #revise(path: string, revise: (standing: ZnodeState) => Partial<ZnodeState>): void {
    const standing = this.find(path);
    if (standing === undefined) return;
    const { data, acl, lifetime, version, aversion, creates, childCount } = standing;
    const copy = { data, acl, lifetime, version, aversion, creates, childCount };
    this.#drafts.set(path || "/", { ...copy, ...revise(standing) });
  }
}
