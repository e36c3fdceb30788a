/** Adds ACLs to the znodes of a tree, for `cp -p`, `export` and `diff --acl`. */
import { NoNodeError } from "../../errors.ts";
import type { Acl, Session } from "../../session/session.ts";
import type { TreeEntry } from "./read-tree.ts";
import { refusalOf } from "./tree-failures.ts";
import type { WalkOptions } from "./walk.ts";

export interface EntryWithAcl extends TreeEntry {
  readonly acl?: readonly Acl[];
}

/** Requests under way at a time; ZooKeeper has no request for many ACLs. */
const UNDER_WAY = 1_000;

/** Znodes that vanish meanwhile are left out; one whose ACL may not be read is a failure. */
export async function* readAcls(
  session: Session,
  pieces: AsyncIterable<readonly TreeEntry[]>,
  { signal, onFailure }: WalkOptions,
): AsyncGenerator<EntryWithAcl[]> {
  for await (const entries of pieces) {
    for (let start = 0; start < entries.length; start += UNDER_WAY) {
      const group = entries.slice(start, start + UNDER_WAY);
      const answers = await Promise.allSettled(
        group.map(({ path }) => session.getAcl(path, { signal })),
      );
      signal.throwIfAborted();
      const known: EntryWithAcl[] = [];
      for (const [index, answer] of answers.entries()) {
        const entry = group[index] as TreeEntry;
        if (answer.status === "fulfilled") known.push({ ...entry, acl: answer.value.acl });
        else if (!(answer.reason instanceof NoNodeError))
          onFailure(entry.path, refusalOf(answer.reason));
      }
      yield known;
    }
  }
}
