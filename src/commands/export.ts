import { UsageError } from "../errors.ts";
import { ChangesUnder } from "../recipes/trees/changed-under.ts";
import { type EntryWithAcl, readAcls } from "../recipes/trees/read-acls.ts";
import { readTree } from "../recipes/trees/read-tree.ts";
import { headerLine, znodeLine, znodeOf } from "../recipes/trees/tree-file.ts";
import { kindOf } from "../session/node-kind.ts";
import { cannotWrite } from "../text/file-failures.ts";
import { flag, option, optional, word, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import type { FileDraft } from "./context.ts";
import { Unreadable } from "./unreadable.ts";

export const exportTree = defineCommand({
  details:
    "Writes JSON lines: a header, then a znode a line with its data, ACL and kind. A file " +
    "appears when it is complete. Ephemerals " +
    "are left out, because they belong to sessions. Znodes that changed while they were read " +
    "are named on stderr.",
  examples: ["export /app -o app.jsonl", "export --without-acls /app"],
  effect: "read",
  args: { path: optional(znodePath, "the root (the working znode, when left out)") },
  options: {
    file: option("-o", "file", word, "the file to write (stdout, when left out)"),
    withEphemerals: flag("", "include ephemerals; import creates them as persistent znodes"),
    withoutAcls: flag("", "leave ACLs out, which takes a fraction of the time"),
  },
  async *run(context, { path = context.shell.cwd }, { file, withEphemerals, withoutAcls }) {
    const { signal, output } = context;
    const session = context.session();
    const unreadable = new Unreadable();
    const { onFailure } = unreadable;
    // Before anything is written: nothing of a tree that does not exist.
    await session.getChildren(path, { signal });
    const changes = await ChangesUnder.begin(session, path, signal);
    let draft: FileDraft | undefined;
    let znodes = 0;
    let ephemerals = 0;
    try {
      draft = file === undefined ? undefined : await opened(context.files.draft(file), file);
      const write = async (text: string) => {
        if (draft && file !== undefined) await opened(draft.write(text), file);
        return text;
      };
      const at = new Date().toISOString();
      const zxid = `0x${session.lastZxid.toString(16)}`;
      const header = await write(
        headerLine({ zksh: 1, from: session.server ?? "", path, at, zxid }),
      );
      if (!draft) yield { kind: "tree-file", text: header };
      const options = { signal, onFailure };
      const entries = readTree(session, path, options);
      const pieces: AsyncIterable<EntryWithAcl[]> = withoutAcls
        ? entries
        : readAcls(session, entries, options);
      for await (const piece of pieces) {
        let text = "";
        for (const entry of piece) {
          changes.saw(entry);
          if (kindOf(entry.stat) === "ephemeral" && !withEphemerals) {
            ephemerals += 1;
            continue;
          }
          const { data = null, stat, acl } = entry;
          text += znodeLine(znodeOf(entry.path, { data, stat, acl }));
          znodes += 1;
        }
        await write(text);
        if (!draft) yield { kind: "tree-file", text };
        output.onProgress?.(znodes, "znodes exported");
        signal.throwIfAborted();
      }
      const changed = await changes.paths(signal);
      if (draft && file !== undefined) await opened(draft.commit(), file);
      yield {
        kind: "exported",
        path,
        ...(file !== undefined && { file }),
        znodes,
        ephemerals,
        changed,
        isEveryChangeKnown: changes.isComplete,
      };
    } finally {
      await draft?.discard();
      await changes.end();
    }
    yield* unreadable.report();
  },
});

/** A full disk or a missing folder is no bug of ours. */
async function opened<T>(work: Promise<T>, file: string): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new UsageError(cannotWrite(file, cause), { cause });
  }
}
