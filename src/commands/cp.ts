import { UsageError } from "../errors.ts";
import { joinPath } from "../session/path.ts";
import { flag, required, rest } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { copyAndReport } from "./copy-tree.ts";
import { refuseOnKeeper } from "./not-on-keeper.ts";
import {
  formatPlace,
  isSameServer,
  type Place,
  Places,
  place,
  targetOf,
  writesAt,
} from "./place.ts";
import { destroy } from "./undo/keep-for-undo.ts";
import { refuseProtected } from "./whole-tree.ts";
import { onConflictOption } from "./write-options.ts";

export const cp = defineCommand({
  details:
    "DST is the name of the copy; with a slash at its end, or behind several SRC, copies come below " +
    "it. Run again after a failure it goes on: equal znodes stay. Ephemerals are left out. With -p " +
    "parents are open to all until their children are there. Places: /PATH, zk://HOST[:PORT],…/PATH, " +
    "@PROFILE:/PATH and file:PATH, where a znode with children is a folder and its data .data in it.",
  examples: ["cp -r -p --exact /app zk://zk2:2181/app", "cp -r @prod:/app file:app"],
  effect: "write",
  args: {
    source: required(place, "what to copy"),
    others: rest(place, "more to copy; the last word is where to"),
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
    const options = { recursive, preserve, exact, onConflict, dryRun };
    const places = new Places(context, "cp");
    try {
      for (const from of sources) {
        const to = targetOf(from, { ...target, isFolder });
        checkEnds(from, to, options);
        if (to.kind !== "file") refuseProtected("cp", to.path, writesAt(context, to));
        for (const place of exact ? [from, to] : []) {
          if (place.kind === "file") continue;
          await refuseOnKeeper(await places.session(place), "--exact is", {
            signal: context.signal,
          });
        }
        const work = copyAndReport(context, { from, to, places, options });
        if (onConflict !== "overwrite" || dryRun || to.kind !== "here") yield* work;
        else {
          const command = `cp ${formatPlace(from)} ${to.path}`;
          const destruction = { command, session: context.session(), paths: [to.path] };
          yield* destroy(context, destruction, work);
        }
      }
    } finally {
      await places.close();
    }
  },
});

interface Wishes {
  readonly recursive: boolean;
  readonly preserve: boolean;
  readonly exact: boolean;
}

function checkEnds(from: Place, to: Place, { recursive, preserve, exact }: Wishes): void {
  if (from.kind === "file" && to.kind === "file")
    throw new UsageError("cp copies znodes, and both places are files");
  if (from.kind === "file" || to.kind === "file") {
    if (!preserve && !exact) return;
    throw new UsageError(`a file keeps no ${preserve ? "ACLs" : "sequence counters"}`, {
      hint: "export and import keep them",
    });
  }
  if (isSameServer(from, to)) refuseOverlap(from.path, to.path, recursive);
}

/** A tree that is copied into itself would never end. */
function refuseOverlap(from: string, to: string, recursive: boolean): void {
  if (from === to) throw new UsageError(`${from} is both source and target`);
  if (recursive && to.startsWith(joinPath(from, "")))
    throw new UsageError(`cannot copy ${from} into itself (${to})`);
}
