/** Decides how a tree is moved, and refuses what cannot be moved, before anything is done. */
import { ConflictError, NoNodeError, RefusedError } from "../../../errors.ts";
import { ancestors, parentPath } from "../../../session/path.ts";
import type { Stat } from "../../../session/session.ts";
import { quoteWord } from "../../../text/quote-word.ts";
import type { TreePlace } from "../copy-tree.ts";
import { compareTrees } from "./compare-trees.ts";
import { findObstacle, type Move, type Obstacle } from "./move-transaction.ts";
import { surveyTree } from "./survey-tree.ts";

export type MovePlan = { readonly znodes: number } & (
  | { readonly kind: "transaction" }
  | { readonly kind: "copy"; readonly why: WhyCopied }
);

export type WhyCopied =
  | Obstacle
  /** Two sessions: no transaction spans them. */
  | { readonly kind: "other-servers" }
  /** An interrupted move goes on. */
  | { readonly kind: "target-exists" };

/**
 * Larger trees are not read for a transaction, even if servers accept it: memory has to hold all of
 * it. The session knows the real limit, usually 1 MB.
 */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Throws NoNodeError for a missing source or parent of the target, RefusedError for ephemerals,
 * ConflictError for a target that is not the copy of an interrupted move, and PermissionError for
 * what cannot be read.
 */
export async function planMove(move: Move, signal: AbortSignal): Promise<MovePlan> {
  const { from, to } = move;
  const { znodes, bytes } = await surveyTree(from, signal);
  const isOneSession = from.session === to.session;
  if (!isOneSession) await refuseSameZnodes(move, signal);
  if (await to.session.exists(to.path, { signal })) {
    await mustBeInterruptedMove(move, signal);
    return { kind: "copy", znodes, why: { kind: "target-exists" } };
  }
  await mustHaveParent(to, signal);
  if (!isOneSession) return { kind: "copy", znodes, why: { kind: "other-servers" } };
  const why: Obstacle | undefined =
    bytes > MAX_BYTES ? { kind: "too-large" } : await findObstacle(move, signal);
  return why === undefined ? { kind: "transaction", znodes } : { kind: "copy", znodes, why };
}

async function mustHaveParent({ session, path }: TreePlace, signal: AbortSignal): Promise<void> {
  const parent = parentPath(path);
  if (parent === "/" || (await session.exists(parent, { signal }))) return;
  const message = `cannot create ${path}: its parent ${parent} does not exist (NoNode)`;
  throw new NoNodeError("no-node", message, {
    path,
    hint: `create -p ${quoteWord(parent)} creates it`,
  });
}

/**
 * An interrupted move leaves a target with nothing but copies, or a complete target and a rest of
 * the source. In any other target, moving would mix two trees.
 */
async function mustBeInterruptedMove({ from, to }: Move, signal: AbortSignal): Promise<void> {
  let isSourceAhead = false;
  let isTargetAhead = false;
  for await (const { kind, path } of compareTrees(from, to, { signal, acl: false })) {
    if (kind === "only-left") isSourceAhead = true;
    if (kind === "only-right") isTargetAhead = true;
    if (kind === "data")
      throw targetExists(to.path, `${to.path}${path} exists with other data than the source`);
    if (isSourceAhead && isTargetAhead)
      throw targetExists(to.path, `${to.path} exists and has znodes of its own`);
  }
}

function targetExists(path: string, message: string): ConflictError {
  return new ConflictError("node-exists", `${message}: nothing was moved`, {
    path,
    code: -110,
    hint: "an interrupted mv goes on where the target has only copies; diff compares both",
  });
}

/**
 * Throws where source and target are the same znode, or one is within the other, under different
 * names of the same servers: the move would delete its own copy.
 */
async function refuseSameZnodes({ from, to }: Move, signal: AbortSignal): Promise<void> {
  const [source, target] = await Promise.all([statsDown(from, signal), statsDown(to, signal)]);
  const same =
    isAmong(source.at(-1), target) || (target.length > 0 && isAmong(target.at(-1), source));
  if (!same) return;
  throw new RefusedError(
    "same-znode",
    `${from.path} and ${to.path} overlap: they are on the same servers`,
    {
      path: from.path,
      hint: "name both without zk://, or use cp and deleteall where servers are clones of each other",
    },
  );
}

/** Of the znode and everything above it; the last is that of the znode itself, if it exists. */
async function statsDown({ session, path }: TreePlace, signal: AbortSignal) {
  const paths = [...ancestors(path), path];
  return Promise.all(paths.map((each) => session.exists(each, { signal })));
}

/** No two znodes of an ensemble are created by the same transaction at the same time. */
function isAmong(one: Stat | undefined, others: readonly (Stat | undefined)[]): boolean {
  if (one === undefined) return false;
  return others.some((other) => other?.czxid === one.czxid && other.ctime === one.ctime);
}
