import { UsageError } from "../errors.ts";
import { joinPath } from "../session/path.ts";
import { flag, required, rest } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { copyAndReport } from "./copy-tree.ts";
import { formatPlace, isSameServer, Places, targetOf, znodePlace } from "./place.ts";
import { refuseProtected } from "./whole-tree.ts";
import { onConflictOption } from "./write-options.ts";

export const cp = defineCommand({
  details:
    "zk://HOST[:PORT],…/PATH is a place on other servers. DST is the name of the copy; with a " +
    "slash at its end, or behind several " +
    "SRC, the copies come below it. A copy that failed can be run again: equal znodes stay. " +
    "Ephemerals are left out. With -p " +
    "parents are open to all until their children are there.",
  examples: [
    "cp /app/config /app/config.bak",
    "cp -r -p --exact /app zk://zk2:2181/app",
    "cp -r --on-conflict overwrite /staging/app /live/app",
  ],
  effect: "write",
  args: {
    source: required(znodePlace, "what to copy"),
    others: rest(znodePlace, "more to copy; the last word is where to"),
  },
  options: {
    recursive: flag("-r", "copy everything below it too"),
    preserve: flag("-p", "copy ACLs too; they are set last"),
    exact: flag("", "copy sequence counters too, and check them"),
    onConflict: onConflictOption,
    dryRun: flag("", "compare with the target and only count what would be done"),
  },
  async *run(
    context,
    { source, others },
    { recursive, preserve, exact, onConflict = "fail", dryRun },
  ) {
    const target = others.at(-1);
    if (target === undefined) throw new UsageError("cp needs a source and a target");
    const sources = [source, ...others.slice(0, -1)];
    const isFolder = target.isFolder || sources.length > 1;
    const places = new Places(context);
    try {
      for (const from of sources) {
        const to = targetOf(from, { ...target, isFolder });
        refuseProtected("cp", to.path);
        if (isSameServer(from, to)) refuseOverlap(from.path, to.path, recursive);
        yield* copyAndReport(context, {
          from: { session: await places.session(from), path: from.path },
          to: { session: await places.session(to), path: to.path, name: formatPlace(to) },
          acls: preserve ? await places.acls(from) : undefined,
          options: { recursive, exact, onConflict, dryRun },
        });
      }
    } finally {
      await places.close();
    }
  },
});

/** A tree that is copied into itself would never end. */
function refuseOverlap(from: string, to: string, recursive: boolean): void {
  if (from === to) throw new UsageError(`${from} is both source and target`);
  if (recursive && to.startsWith(joinPath(from, "")))
    throw new UsageError(`cannot copy ${from} into itself (${to})`);
}
