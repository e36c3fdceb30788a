import { flag, option, optional, word, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { attemptExport, needsFile } from "./export-attempt.ts";

/** A consistent export begins again when changes may have gone unnoticed: the connection broke. */
const MAX_ATTEMPTS = 5;

export const exportTree = defineCommand({
  details:
    "Writes JSON lines: a header, then a znode a line with its data, ACL and kind. A file " +
    "appears when it is complete. Ephemerals " +
    "are left out, because they belong to sessions. Znodes that changed while they were read " +
    "are named on stderr; --consistent reads them again until none changes meanwhile, at most " +
    "10 times, so that the file has the tree of one moment (a changed ACL alone goes unnoticed). " +
    "Exit code 8 when that limit is reached.",
  examples: [
    "export /app -o app.jsonl",
    "export --consistent /app -o app.jsonl",
    "export --without-acls /app",
  ],
  effect: "read",
  args: { path: optional(znodePath, "the root (the working znode, when left out)") },
  options: {
    file: option("-o", "file", word, "the file to write (stdout, when left out)"),
    consistent: flag("", "read znodes that change meanwhile again; needs -o"),
    withEphemerals: flag("", "include ephemerals; import creates them as persistent znodes"),
    withoutAcls: flag("", "leave ACLs out, which takes a fraction of the time"),
  },
  async *run(
    context,
    { path = context.shell.cwd },
    { file, consistent, withEphemerals, withoutAcls },
  ) {
    if (consistent && file === undefined) throw needsFile("stdout");
    // Before anything is written: nothing of a tree that does not exist.
    await context.session().getChildren(path, { signal: context.signal });
    const options = { path, withEphemerals, withAcls: !withoutAcls };
    for (let attempt = 1; ; attempt++) {
      const isLast = !consistent || attempt === MAX_ATTEMPTS;
      if (yield* attemptExport(context, { ...options, file, consistent, isLast })) return;
    }
  },
});
