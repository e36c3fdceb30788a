import type { CheckedChange } from "./check-changes.ts";
import { parentOf } from "./paths.ts";
import type { Tree } from "./tree.ts";
import type { ZnodeState } from "./znode.ts";

/**
 * The tree as the checked operations of a multi will leave it. The next operation is checked
 * against it.
 */
export class PendingChanges {
  readonly #tree: Tree;
  /** The changed znodes by path; undefined for a deleted one. */
  readonly #changed = new Map<string, ZnodeState | undefined>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  find(asked: string): ZnodeState | undefined {
    const path = asked || "/";
    return this.#changed.has(path) ? this.#changed.get(path) : this.#tree.find(path);
  }

  note(change: CheckedChange): void {
    const { type, path } = change;
    switch (type) {
      case "create": {
        const { data, acl, lifetime, parentCreates } = change;
        this.#changed.set(path, {
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
        this.#changed.set(path, undefined);
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

  #revise(path: string, revise: (znode: ZnodeState) => Partial<ZnodeState>): void {
    const znode = this.find(path);
    if (znode === undefined) return;
    const { data, acl, lifetime, version, aversion, creates, childCount } = znode;
    const copy = { data, acl, lifetime, version, aversion, creates, childCount };
    this.#changed.set(path || "/", { ...copy, ...revise(znode) });
  }
}
