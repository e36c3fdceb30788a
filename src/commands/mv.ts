import { UsageError } from "../errors.ts";
import type { TreePlace } from "../recipes/trees/copy-tree.ts";
import type { Move } from "../recipes/trees/move/move-transaction.ts";
import { type MovePlan, planMove } from "../recipes/trees/move/plan-move.ts";
import { joinPath } from "../session/path.ts";
import { flag, required } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { moveTree, sayWhy } from "./move-tree.ts";
import { refuseOnKeeper } from "./not-on-keeper.ts";
import {
  formatPlace,
  isSameServer,
  Places,
  targetOf,
  writesAt,
  type ZnodePlace,
  znodePlace,
} from "./place.ts";
import { destroy } from "./undo/keep-for-undo.ts";
import { refuseProtected } from "./whole-tree.ts";

export const mv = defineCommand({
  details:
    "DST is the new name; with a slash at its end SRC comes below it. zk://HOST[:PORT],…/PATH and " +
    "@PROFILE:/PATH are places on other servers. A tree that fits into one request (jute.maxbuffer, usually 1 MB) is " +
    "moved in one transaction: as a whole or not at all. Otherwise mv says that it is not atomic, " +
    "asks, copies, compares both, and deletes each znode only if it has not changed meanwhile; " +
    "until then its parents are open to all. After an interruption the same command goes on. ACLs " +
    "are kept; times and versions are not. Ephemerals cannot be moved.",
  examples: ["mv /app/config /app/settings", "mv /app/old /archive/", "mv --dry-run /app /moved"],
  effect: "write",
  args: {
    source: required(znodePlace, "what to move, with everything below it"),
    target: required(znodePlace, "its new name, or where to with a slash at the end"),
  },
  options: {
    exact: flag("", "keep sequence counters too, and check them"),
    dryRun: flag("", "only say how it would be moved"),
  },
  async confirm(context, { source, target }, { exact, dryRun }) {
    const ends = endsOf(context, source, target);
    if (dryRun) return undefined;
    const places = new Places(context, "mv");
    try {
      const plan = await planMove(
        await openMove(places, ends, { exact, signal: context.signal }),
        context.signal,
      );
      if (plan.kind === "transaction") return undefined;
      return {
        text: question(ends, plan),
        paths: [formatPlace(ends.from)],
        rules: writesAt(context, ends.from),
      };
    } finally {
      await places.close();
    }
  },
  async *run(context, { source, target }, { exact, dryRun }) {
    const ends = endsOf(context, source, target);
    const places = new Places(context, "mv");
    try {
      const move = await openMove(places, ends, { exact, signal: context.signal });
      const work = moveTree(context, {
        move,
        names: { from: formatPlace(ends.from), to: formatPlace(ends.to) },
        isDryRun: dryRun,
      });
      if (dryRun || ends.from.kind !== "here") return yield* work;
      const destruction = {
        command: `mv ${formatPlace(ends.from)} ${formatPlace(ends.to)}`,
        session: move.from.session,
        paths: [ends.from.path],
        movedTo: ends.to.kind === "here" ? ends.to.path : undefined,
      };
      yield* destroy(context, destruction, work);
    } finally {
      await places.close();
    }
  },
});

function question(
  { from, to }: Ends,
  { znodes, why }: Extract<MovePlan, { kind: "copy" }>,
): string {
  const others = znodes - 1;
  const number = others === 1 ? "the one znode" : `the ${others.toLocaleString("en-US")} znodes`;
  const below = others === 0 ? "" : ` and ${number} below it`;
  return `Move ${formatPlace(from)}${below} to ${formatPlace(to)}? This is not atomic: ${sayWhy(why)}.`;
}

interface Ends {
  readonly from: ZnodePlace;
  readonly to: ZnodePlace;
}

/** Throws for paths that are never moved, even where servers would allow it. */
function endsOf(context: Context, from: ZnodePlace, target: ZnodePlace): Ends {
  const to = targetOf(from, target);
  refuseProtected("mv", from.path, writesAt(context, from));
  refuseProtected("mv", to.path, writesAt(context, to));
  if (isSameServer(from, to)) refuseOverlap(from.path, to.path);
  return { from, to };
}

async function openMove(
  places: Places,
  { from, to }: Ends,
  { exact, signal }: { readonly exact: boolean; readonly signal: AbortSignal },
): Promise<Move> {
  const move = {
    from: await openPlace(places, from),
    to: await openPlace(places, to),
    exact,
  };
  if (exact) {
    await refuseOnKeeper(move.from.session, "--exact is", { signal });
    await refuseOnKeeper(move.to.session, "--exact is", { signal });
  }
  return move;
}

async function openPlace(places: Places, of: ZnodePlace): Promise<TreePlace> {
  return { session: await places.session(of), path: of.path, acls: await places.acls(of) };
}

function refuseOverlap(from: string, to: string): void {
  if (from === to) throw new UsageError(`${from} is both source and target`);
  if (to.startsWith(joinPath(from, "")))
    throw new UsageError(`cannot move ${from} into itself (${to})`);
  if (from.startsWith(joinPath(to, "")))
    throw new UsageError(`cannot move ${from} onto ${to}, which it is a part of`);
}
