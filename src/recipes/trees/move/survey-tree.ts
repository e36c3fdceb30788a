/** Looks at a tree before it is moved: what cannot be moved is refused before anything is done. */
import { RefusedError } from "../../../errors.ts";
import { kindOf } from "../../../session/node-kind.ts";
import { quoteWord } from "../../../text/quote-word.ts";
import type { TreePlace } from "../copy-tree.ts";
import type { EntryWithAcl } from "../read-acls.ts";
import { readTree, type TreeEntry } from "../read-tree.ts";
import { refusalOf } from "../tree-failures.ts";

export interface Survey {
  readonly znodes: number;
  /** About the length of a transaction that moves the tree. */
  readonly bytes: number;
}

/** Of the create and the delete of a znode, beside its data and twice its path. */
const BYTES_PER_ZNODE = 70;

const MAX_NAMED = 3;

/** Throws RefusedError where there are ephemerals, and what a znode that cannot be read answers. */
export async function surveyTree(
  { session, path: root }: TreePlace,
  signal: AbortSignal,
): Promise<Survey> {
  const entries = readTree(session, root, { signal, onFailure: mustBeReadable, statsOnly: true });
  const ephemerals: string[] = [];
  let znodes = 0;
  let bytes = 0;
  for await (const piece of entries) {
    for (const { path, stat } of piece) {
      znodes += 1;
      bytes += 2 * path.length + stat.dataLength + BYTES_PER_ZNODE;
      if (kindOf(stat) === "ephemeral" && ephemerals.push(path) > MAX_NAMED) break;
    }
    if (ephemerals.length > MAX_NAMED) break;
  }
  refuseEphemerals(root, ephemerals);
  return { znodes, bytes };
}

/** A failure of a read ends the work: a tree that is only read in part is not moved. */
export function mustBeReadable(_path: string, error: Error): void {
  throw refusalOf(error);
}

/** Throws RefusedError for what has become an ephemeral, or has an ACL that is not shown whole. */
export function mustBeMovable(root: string, entries: readonly EntryWithAcl[]): void {
  refuseEphemerals(
    root,
    entries.filter(isEphemeral).map(({ path }) => path),
  );
  const masked = entries.find(({ acl = [] }) => acl.some(isMasked));
  if (!masked) return;
  const { path } = masked;
  throw new RefusedError(
    "masked-acl",
    `the ACL of ${path} cannot be moved: its digests are hidden`,
    {
      path,
      hint: "servers show them to identities that have the admin permission (a) on it",
    },
  );
}

function isEphemeral({ stat }: TreeEntry): boolean {
  return kindOf(stat) === "ephemeral";
}

/** Servers from 3.6 on show `digest:ann:x` to clients without the admin permission. */
function isMasked({ scheme, id }: { readonly scheme: string; readonly id: string }): boolean {
  return scheme === "digest" && id.endsWith(":x");
}

function refuseEphemerals(root: string, paths: readonly string[]): void {
  const [path] = paths;
  if (path === undefined) return;
  const named = paths.slice(0, MAX_NAMED).join(", ");
  const more = paths.length > MAX_NAMED ? ", …" : "";
  const message =
    path === root
      ? `${root} is ephemeral: it belongs to a session and cannot be moved`
      : `${root} cannot be moved: ephemeral znodes belong to sessions (${named}${more})`;
  const hint = path === root ? undefined : `find ${quoteWord(root)} --kind ephemeral lists them`;
  throw new RefusedError("ephemerals", message, { path, ...(hint !== undefined && { hint }) });
}
