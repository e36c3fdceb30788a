/**
 * Compares two trees, or a tree and an export, znode by znode. Both sides come depth first with
 * siblings by name, so that they are merged like two sorted lists and memory stays flat.
 */
import { kindOf } from "../../session/node-kind.ts";
import { movedPath } from "../../session/path.ts";
import type { Acl } from "../../session/session.ts";
import type { EntryWithAcl } from "./read-acls.ts";

/** A znode of either side; `path` is relative to the side's root and empty for the root itself. */
export interface ComparedZnode {
  readonly path: string;
  readonly data: Buffer | null;
  readonly acl?: readonly Acl[] | undefined;
}

export type Difference =
  | { readonly kind: "only-left"; readonly path: string; readonly left: ComparedZnode }
  | { readonly kind: "only-right"; readonly path: string; readonly right: ComparedZnode }
  | {
      readonly kind: "data" | "acl";
      readonly path: string;
      readonly left: ComparedZnode;
      readonly right: ComparedZnode;
    };

/** What is compared beside names. */
export interface DiffOptions {
  readonly data: boolean;
  readonly acl: boolean;
}

/** The znodes of a server as one side of a comparison; ephemerals are not compared. */
export async function* comparedZnodes(
  root: string,
  pieces: AsyncIterable<readonly EntryWithAcl[]>,
): AsyncGenerator<ComparedZnode[]> {
  for await (const piece of pieces) {
    yield piece
      .filter(({ stat }) => kindOf(stat) !== "ephemeral")
      .map(({ path, data = null, acl }) => ({ path: movedPath(path, root, ""), data, acl }));
  }
}

/** `/a/b` comes before `/a/b/c`, and both before `/a/b-c`: by names, not by characters. */
export function comparePaths(one: string, other: string): number {
  if (one === other) return 0;
  const names = one.split("/");
  const otherNames = other.split("/");
  const shorter = Math.min(names.length, otherNames.length);
  for (let i = 0; i < shorter; i++) {
    const name = names[i] as string;
    const otherName = otherNames[i] as string;
    if (name !== otherName) return name < otherName ? -1 : 1;
  }
  return names.length - otherNames.length;
}

export async function* diffTrees(
  left: AsyncIterable<readonly ComparedZnode[]>,
  right: AsyncIterable<readonly ComparedZnode[]>,
  options: DiffOptions,
): AsyncGenerator<Difference> {
  const lefts = new Cursor(left);
  const rights = new Cursor(right);
  try {
    let [one, other] = await Promise.all([lefts.next(), rights.next()]);
    while (one !== undefined || other !== undefined) {
      const order =
        one === undefined ? 1 : other === undefined ? -1 : comparePaths(one.path, other.path);
      if (order < 0 && one) {
        yield { kind: "only-left", path: one.path, left: one };
        one = await lefts.next();
      } else if (order > 0 && other) {
        yield { kind: "only-right", path: other.path, right: other };
        other = await rights.next();
      } else if (one && other) {
        yield* compareZnodes(one, other, options);
        one = await lefts.next();
        other = await rights.next();
      }
    }
  } finally {
    await Promise.all([lefts.close(), rights.close()]);
  }
}

function* compareZnodes(
  left: ComparedZnode,
  right: ComparedZnode,
  { data, acl }: DiffOptions,
): Generator<Difference> {
  const { path } = left;
  if (data && !bytesOf(left).equals(bytesOf(right))) yield { kind: "data", path, left, right };
  if (acl && aclKey(left.acl) !== aclKey(right.acl)) yield { kind: "acl", path, left, right };
}

function bytesOf({ data }: ComparedZnode): Buffer {
  return data ?? Buffer.alloc(0);
}

/** Entries in any order mean the same. */
function aclKey(acl: readonly Acl[] = []): string {
  return acl
    .map(({ scheme, id, perms }) => `${scheme}:${id}:${perms}`)
    .sort()
    .join();
}

/** One znode after the other out of pieces; the promise of the next piece is only made for it. */
class Cursor {
  readonly #pieces: AsyncIterator<readonly ComparedZnode[]>;
  #piece: readonly ComparedZnode[] = [];
  #index = 0;

  constructor(pieces: AsyncIterable<readonly ComparedZnode[]>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async next(): Promise<ComparedZnode | undefined> {
    while (this.#index >= this.#piece.length) {
      const { done, value } = await this.#pieces.next();
      if (done) return undefined;
      this.#piece = value;
      this.#index = 0;
    }
    return this.#piece[this.#index++];
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
