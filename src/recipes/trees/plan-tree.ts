/**
 * What TreeWriter would do with the same znodes: compares them with those that exist, and writes
 * nothing. For `--dry-run` of `cp` and `import`.
 */
import type { Session } from "../../session/session.ts";
import { hasEqualData, type NewZnode } from "./new-znode.ts";
import { readPaths, type TreeEntry } from "./read-tree.ts";
import { refusalOf, type TreeFailure } from "./tree-failures.ts";
import type { TreeSink } from "./tree-sink.ts";
import { existsWithOtherData, type WriteTreeOptions, type WrittenTree } from "./write-tree.ts";

export class TreePlan implements TreeSink {
  readonly #session: Session;
  readonly #options: WriteTreeOptions;
  readonly #counts = { created: 0, overwritten: 0, unchanged: 0, skipped: 0 };
  readonly #failures: TreeFailure[] = [];

  constructor(session: Session, options: WriteTreeOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Throws ConflictError with `onConflict: "fail"`, as TreeWriter would. */
  async add(znodes: readonly NewZnode[]): Promise<void> {
    const { signal } = this.#options;
    const unreadable = new Set<string>();
    const onFailure = (path: string, error: Error) => {
      unreadable.add(path);
      this.#failures.push({ path, error: refusalOf(error) });
    };
    const existing = new Map<string, TreeEntry>();
    const paths = znodes.map(({ path }) => path);
    for await (const piece of readPaths(this.#session, [paths], { signal, onFailure }))
      for (const entry of piece) existing.set(entry.path, entry);
    for (const znode of znodes) {
      const found = existing.get(znode.path);
      if (found) this.#meet(znode, found);
      else if (!unreadable.has(znode.path)) this.#counts.created += 1;
    }
  }

  /** As of TreeWriter; nothing was written that could be told of. */
  async stopped(error: unknown): Promise<unknown> {
    return error;
  }

  async finish(): Promise<WrittenTree> {
    return { ...this.#counts, failures: this.#failures };
  }

  #meet(znode: NewZnode, { data = null }: TreeEntry): void {
    const { onConflict } = this.#options;
    if (hasEqualData(data, znode.data)) this.#counts.unchanged += 1;
    else if (onConflict === "skip") this.#counts.skipped += 1;
    else if (onConflict === "overwrite") this.#counts.overwritten += 1;
    else throw existsWithOtherData(znode.path);
  }
}
