import type { NewZnode } from "../recipes/trees/new-znode.ts";
import { readTree } from "../recipes/trees/read-tree.ts";
import type { TreeFileZnode } from "../recipes/trees/tree-file.ts";
import { TreeWriter } from "../recipes/trees/write-tree.ts";
import { kindOf } from "../session/node-kind.ts";
import { movedPath } from "../session/path.ts";
import { flag, optional, required, word, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { openTreeFile } from "./open-tree-file.ts";
import { refuseProtected } from "./whole-tree.ts";
import { explainWrite, onConflictOption, reportWritten } from "./write-options.ts";

export const importTree = defineCommand({
  details:
    "PATH takes the place of the exported root. ACLs of parents are set last. An import that " +
    "failed can be run again: equal " +
    "znodes stay. What cannot come back: zxids, times and versions, the sessions of ephemerals, " +
    "the rest of a TTL, and which " +
    "znodes are containers (Apache ZooKeeper does not tell).",
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
    dryRun: flag("", "only read the file and count"),
  },
  async confirm(_context, { file, path }, { prune, dryRun }) {
    if (!prune || dryRun) return undefined;
    const where = path ?? "the exported path";
    return `Delete everything below ${where} that is not in ${file}?`;
  },
  async *run(context, { file, path }, { onConflict = "fail", prune, exact, withoutAcls, dryRun }) {
    const { signal, output } = context;
    const session = context.session();
    const { header, znodes: groups } = await openTreeFile(context, file);
    const root = path ?? header.path;
    refuseProtected("import", root === "/" ? "/import" : root);
    const writer = new TreeWriter(session, {
      signal,
      onConflict,
      onProgress: (written) => output.onProgress?.(written, "znodes imported"),
    });
    const known = prune ? new Set<string>() : undefined;
    let planned = 0;
    try {
      for await (const group of groups) {
        const znodes = group
          .map((znode) => toNewZnode(znode, header.path, root, { exact, withoutAcls }))
          .filter((znode) => !isServersOwn(znode.path));
        for (const znode of znodes) known?.add(znode.path);
        planned += znodes.length;
        if (!dryRun) await writer.add(znodes);
        signal.throwIfAborted();
      }
      const done = dryRun
        ? { created: planned, overwritten: 0, unchanged: 0, skipped: 0, failures: [] }
        : await writer.finish();
      const pruned = known && !dryRun ? await pruneTree(context, root, known) : 0;
      yield* reportWritten(done, { path: root, ephemerals: 0, pruned, isDryRun: dryRun });
    } catch (error) {
      throw explainWrite(error, root);
    }
  },
});

function isServersOwn(path: string): boolean {
  return path === "/zookeeper" || path.startsWith("/zookeeper/");
}

function toNewZnode(
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

/** Deletes what the file lacks, deepest first. Returns how many znodes. */
async function pruneTree(
  { session, signal }: Context,
  root: string,
  known: ReadonlySet<string>,
): Promise<number> {
  const surplus: string[] = [];
  const onFailure = (_path: string, error: Error) => {
    throw error;
  };
  const options = { signal, onFailure, statsOnly: true };
  for await (const entries of readTree(session(), root, options)) {
    for (const { path, stat } of entries) {
      const isOurs = known.has(path) || isServersOwn(path) || path === root;
      if (!isOurs && kindOf(stat) !== "ephemeral") surplus.push(path);
    }
  }
  for (const path of surplus.reverse()) await session().delete(path, { signal });
  return surplus.length;
}
