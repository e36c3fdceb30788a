/** Copies one tree for `cp`: reads it on one session and writes it on another, or on the same. */

import type { NewZnode } from "../recipes/trees/new-znode.ts";
import { type EntryWithAcl, readAcls } from "../recipes/trees/read-acls.ts";
import { readTree } from "../recipes/trees/read-tree.ts";
import { type OnConflict, TreeWriter } from "../recipes/trees/write-tree.ts";
import type { Result } from "../results/result.ts";
import { kindOf, nextSequence, ttlOf } from "../session/node-kind.ts";
import type { Session } from "../session/session.ts";
import type { Context } from "./command.ts";
import { Unreadable } from "./unreadable.ts";
import { explainWrite, movedPath, reportWritten } from "./write-options.ts";

export interface TreeCopy {
  readonly from: { readonly session: Session; readonly path: string };
  /** `name` is how the target is shown. */
  readonly to: { readonly session: Session; readonly path: string; readonly name: string };
  readonly options: CopyOptions;
}

interface CopyOptions {
  readonly recursive: boolean;
  readonly preserve: boolean;
  readonly exact: boolean;
  readonly onConflict: OnConflict;
  readonly dryRun: boolean;
}

export async function* copyTree(
  context: Context,
  { from, to, options: wanted }: TreeCopy,
): AsyncGenerator<Result> {
  const { recursive, preserve, exact, onConflict, dryRun } = wanted;
  const { signal, output } = context;
  const unreadable = new Unreadable();
  const { onFailure } = unreadable;
  const options = { signal, onFailure, ...(!recursive && { maxDepth: 0 }) };
  const entries = readTree(from.session, from.path, options);
  const pieces: AsyncIterable<EntryWithAcl[]> = preserve
    ? readAcls(from.session, entries, options)
    : entries;
  const writer = new TreeWriter(to.session, {
    signal,
    onConflict,
    onProgress: (written) => output.onProgress?.(written, "znodes copied"),
  });
  let ephemerals = 0;
  let planned = 0;
  try {
    for await (const piece of pieces) {
      const znodes: NewZnode[] = [];
      for (const entry of piece) {
        if (kindOf(entry.stat) === "ephemeral") ephemerals += 1;
        else znodes.push(toNewZnode(entry, from.path, to.path, exact));
      }
      planned += znodes.length;
      if (!dryRun) await writer.add(znodes);
    }
    const done = dryRun
      ? { created: planned, overwritten: 0, unchanged: 0, skipped: 0, failures: [] }
      : await writer.finish();
    yield* reportWritten(done, { path: to.name, ephemerals, isDryRun: dryRun });
  } catch (error) {
    throw explainWrite(error, to.name);
  }
  yield* unreadable.report();
}

function toNewZnode(
  { path, data = null, stat, acl }: EntryWithAcl,
  from: string,
  to: string,
  exact: boolean,
): NewZnode {
  const ttlMs = ttlOf(stat);
  const kind = kindOf(stat);
  const next = nextSequence(stat);
  return {
    path: movedPath(path, from, to),
    data,
    acl,
    ...(kind === "container" && { mode: "container" }),
    ...(kind === "ttl" && { mode: "persistentWithTtl", ttlMs }),
    ...(exact && next !== stat.numChildren && { nextSequence: next }),
  };
}
