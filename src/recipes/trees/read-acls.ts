/** Adds ACLs to the znodes of a tree, for `cp -p`, `export` and `diff --acl`. */
import { NoNodeError } from "../../errors.ts";
import type { Acl } from "../../session/session.ts";
import type { AclSource } from "./acl-readers.ts";
import type { TreeEntry } from "./read-tree.ts";
import { refusalOf } from "./tree-failures.ts";
import type { WalkOptions } from "./walk.ts";

export interface EntryWithAcl extends TreeEntry {
  readonly acl?: readonly Acl[];
}

/** Requests under way at a time; ZooKeeper has no request for many ACLs. */
const UNDER_WAY = 500;

interface Asked {
  readonly entries: readonly TreeEntry[];
  readonly answers: Promise<PromiseSettledResult<{ readonly acl: readonly Acl[] }>[]>;
}

/** Znodes that vanish meanwhile are left out; one whose ACL may not be read is a failure. */
export async function* readAcls(
  source: AclSource,
  pieces: AsyncIterable<readonly TreeEntry[]>,
  { signal, onFailure }: WalkOptions,
): AsyncGenerator<EntryWithAcl[]> {
  const underWay: Asked[] = [];
  let requests = 0;
  const oldest = async () => {
    const { entries, answers } = underWay.shift() as Asked;
    requests -= entries.length;
    const settled = await answers;
    signal.throwIfAborted();
    const known: EntryWithAcl[] = [];
    for (const [index, answer] of settled.entries()) {
      const entry = entries[index] as TreeEntry;
      if (answer.status === "fulfilled") known.push({ ...entry, acl: answer.value.acl });
      else if (!(answer.reason instanceof NoNodeError))
        onFailure(entry.path, refusalOf(answer.reason));
    }
    return known;
  };
  for await (const entries of pieces) {
    const asked = entries.map(({ path }) => source.getAcl(path, { signal }));
    underWay.push({ entries, answers: Promise.allSettled(asked) });
    requests += entries.length;
    while (requests > UNDER_WAY) yield await oldest();
  }
  while (underWay.length > 0) yield await oldest();
}
