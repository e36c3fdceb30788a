/** Moves one tree for `mv`, in one transaction or in stages. */
import { moveInTransaction } from "../recipes/trees/move/move-transaction.ts";
import { planMove, type WhyCopied } from "../recipes/trees/move/plan-move.ts";
import type { Result } from "../results/result.ts";
import type { Context } from "./command.ts";
import { moveInStages, type NamedMove } from "./move-stages.ts";

interface MoveRequest extends NamedMove {
  readonly isDryRun: boolean;
}

/** Why a move is not atomic, as the end of a sentence. */
export function sayWhy(why: WhyCopied): string {
  switch (why.kind) {
    case "too-large":
      return "the tree does not fit into one request (jute.maxbuffer, usually 1 MB)";
    case "acl":
      return `the ACL of ${why.path} lets this session create no children, so it has to be set last`;
    case "other-servers":
      return "no transaction spans two places on other servers";
    case "target-exists":
      return "the target exists, and an interrupted mv goes on";
  }
}

export async function* moveTree(context: Context, named: MoveRequest): AsyncGenerator<Result> {
  const { move, names, isDryRun } = named;
  const { signal } = context;
  const plan = await planMove(move, signal);
  const isAtomic = plan.kind === "transaction";
  if (!isAtomic) {
    const message = `mv ${names.from} ${names.to} is not atomic: ${sayWhy(plan.why)}`;
    yield { kind: "warning", reason: "not-atomic", message };
  }
  const result = { kind: "tree-moved", ...names, isAtomic, isDryRun } as const;
  if (isDryRun) yield { ...result, znodes: plan.znodes };
  else if (isAtomic) yield { ...result, ...(await moveInTransaction(move, signal)) };
  else yield { ...result, znodes: yield* moveInStages(context, named) };
}
