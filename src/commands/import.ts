import type { NewZnode } from "../recipes/trees/new-znode.ts";
import { TreePlan } from "../recipes/trees/plan-tree.ts";
import { deleteZnodes, surplusBelow } from "../recipes/trees/prune-tree.ts";
import type { TreeFileZnode } from "../recipes/trees/tree-file.ts";
import { TreeWriter, type WrittenTree } from "../recipes/trees/write-tree.ts";
import { movedPath } from "../session/path.ts";
import { isSystemPath } from "../session/system-path.ts";
import { flag, optional, required, word, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { refuseOnKeeper } from "./not-on-keeper.ts";
import { openTreeFile } from "./open-tree-file.ts";
import { keepForUndo } from "./undo/keep-for-undo.ts";
import { refuseProtected, tellInterruption } from "./whole-tree.ts";
import { explainWrite, onConflictOption, reportWritten, requireParent } from "./write-options.ts";

export const importTree = defineCommand({
  details:
    "PATH takes the place of the exported root. ACLs of parents are set last. An import that " +
    "failed can be run again: equal " +
    "znodes stay. What cannot come back: zxids, times and versions, the sessions of ephemerals, " +
    "what is left of a TTL, containers and TTLs that Apache ZooKeeper hid (it shows them as persistent).",
  examples: ["import app.jsonl /restored", "import --on-conflict overwrite --prune app.jsonl"],
  effect: "write",
  args: {
    file: required(word, "the file; - is stdin"),
    path: optional(znodePath, "where to (the exported path, when left out)"),
  },
  options: {
    onConflict: onConflictOption,
    prune: flag("", "delete what is below PATH and not in the file"),
    exact: flag("", "restore sequence counters too, and check them"),
    withoutAcls: flag("", "leave ACLs out: new znodes are open to all"),
    dryRun: flag("", "compare the file with PATH and only count what would be done"),
  },
  async confirm(context, { file, path }, { prune, dryRun }) {
    if (!prune || dryRun) return undefined;
    const where = path ?? (file === "-" ? "the exported path" : await exportedPath(context, file));
    const text = `Delete everything below ${where} that is not in ${file === "-" ? "stdin" : file}?`;
    return { text, paths: [where] };
  },
  async *run(
    context,
    { file, path },
    { onConflict = "fail", prune: prunes, exact, withoutAcls, dryRun },
  ) {
    const { signal, output } = context;
    const session = context.session();
    if (exact) await refuseOnKeeper(session, "--exact is", { signal });
    const { header, znodes: groups } = await openTreeFile(context, file);
    const root = path ?? header.path;
    refuseProtected("import", root === "/" ? "/import" : root, context.writes);
    if (root === "/") context.writes.refuseTree("import", root);
    await requireParent(session, root, signal);
    const writer = dryRun
      ? new TreePlan(session, { signal, onConflict })
      : new TreeWriter(session, {
          signal,
          onConflict,
          onProgress: (written) => output.onProgress?.(written, "znodes imported"),
        });
    const kept =
      (prunes || onConflict === "overwrite") && !dryRun
        ? yield* keepForUndo(context, { command: `import ${file}`, session, paths: [root] })
        : undefined;
    const known = prunes ? new Set<string>() : undefined;
    let written: WrittenTree;
    try {
      for await (const group of groups) {
        const znodes = group
          .map((znode) => toNewZnode(znode, header.path, root, { exact, withoutAcls }))
          .filter((znode) => !isSystemPath(znode.path));
        for (const znode of znodes) known?.add(znode.path);
        await writer.add(znodes);
        signal.throwIfAborted();
      }
      written = await writer.finish();
    } catch (error) {
      throw explainWrite(await writer.stopped(error), root);
    }
    // What is there stays where not all of the file could be written.
    const canPrune = known !== undefined && written.failures.length === 0;
    const { deleted, failures } = canPrune
      ? await prune(context, root, { known, dryRun })
      : { deleted: 0, failures: [] };
    const done = { ...written, failures: [...written.failures, ...failures] };
    await kept?.();
    yield* reportWritten(done, { path: root, ephemerals: 0, pruned: deleted, isDryRun: dryRun });
  },
});

async function exportedPath(context: Context, file: string): Promise<string> {
  const { header, znodes } = await openTreeFile(context, file);
  // The file is closed when the loop over it ends.
  for await (const _ of znodes) break;
  return header.path;
}

/** Deletes what is below `root` and not in the file. */
async function prune(
  { session, signal }: Context,
  root: string,
  { known, dryRun }: { readonly known: ReadonlySet<string>; readonly dryRun: boolean },
): Promise<Awaited<ReturnType<typeof deleteZnodes>>> {
  if (!(await session().exists(root, { signal }))) return { deleted: 0, failures: [] };
  const isKept = (path: string) => known.has(path) || isSystemPath(path);
  const surplus = await surplusBelow(session(), root, { isKept, signal });
  if (dryRun) return { deleted: surplus.length, failures: [] };
  try {
    return await deleteZnodes(session(), surplus, signal);
  } catch (error) {
    const rest = "the file was written before; the same command deletes the rest";
    throw tellInterruption(error, { verb: "deleted", path: root, rest });
  }
}

export function toNewZnode(
  { path, data, acl, kind, ttlMs, nextSequence }: TreeFileZnode,
  from: string,
  to: string,
  { exact, withoutAcls }: { readonly exact: boolean; readonly withoutAcls: boolean },
): NewZnode {
  return {
    path: movedPath(path, from, to),
    data,
    ...(!withoutAcls && { acl }),
    ...(kind === "container" && { mode: "container" }),
    ...(kind === "ttl" && ttlMs !== undefined && { mode: "persistentWithTtl", ttlMs }),
    ...(exact && { nextSequence }),
  };
}
