/**
 * Keeps late holders out: a sequencer names one holding of a lock, a token is a number that only
 * grows.
 */
import { ConflictError, NoNodeError, OperationError, UsageError } from "../../errors.ts";
import { createWithParents } from "../../session/create-with-parents.ts";
import { validatePath } from "../../session/path.ts";
import type {
  Acl,
  CallOptions,
  CreateOptions,
  MultiOp,
  MultiResult,
  Session,
} from "../../session/session.ts";
import { refuseProtectedPath } from "./protected-path.ts";

/** One holding of a lock: the ticket, and the czxid that no other ticket will ever have. */
export interface Sequencer {
  readonly mode: string;
  readonly czxid: bigint;
  readonly node: string;
}

const SEQUENCER = /^(exclusive|read|write|semaphore|leader):0x([0-9a-f]{1,16}):(\/.*)$/i;

/** Throws UsageError. */
export function parseSequencer(text: string): Sequencer {
  const [, mode, czxid, node] = SEQUENCER.exec(text) ?? [];
  if (mode === undefined || node === undefined) {
    throw new UsageError(`bad sequencer '${text}'`, {
      hint: "use the value of ZK_LOCK_SEQUENCER, for example exclusive:0x1f:/deploy/…",
    });
  }
  validatePath(node);
  return { mode, czxid: BigInt(`0x${czxid}`), node };
}

/** Whether that holding goes on, by what the leader knows now. Makes its requests at once. */
export async function isCurrent(
  session: Session,
  { node, czxid }: Sequencer,
  options: CallOptions,
): Promise<boolean> {
  const [, stat] = await Promise.all([session.sync(node, options), session.exists(node, options)]);
  return stat !== undefined && BigInt.asUintN(64, stat.czxid) === czxid;
}

export interface GuardOptions extends CallOptions {
  /**
   * The ACL of the znode and its parents where they are missing: who may write can also turn the
   * token back.
   */
  readonly acl?: readonly Acl[] | undefined;
}

/**
 * A register that only grows: takes the token if none was higher, and makes the znode if there is
 * none. Returns what was there before. Throws OperationError for a token that is lower, UsageError
 * for a path that is not its own.
 */
export async function guard(
  session: Session,
  path: string,
  token: bigint,
  { acl, ...options }: GuardOptions,
): Promise<bigint | undefined> {
  refuseProtectedPath(path, "keep a token", "give a path of the guard's own");
  const bytes = Buffer.from(String(token));
  for (;;) {
    try {
      const { data, stat } = await session.getData(path, options);
      const stored = readToken(data, path);
      if (stored !== undefined && stored > token) throw outdated(token, stored, path);
      if (stored !== token)
        await session.setData(path, bytes, { ...options, version: stat.version });
      return stored;
    } catch (error) {
      const isMissing = error instanceof NoNodeError;
      if (!isMissing && !(error instanceof ConflictError && error.reason === "bad-version"))
        throw error;
      if (isMissing && (await make(session, path, bytes, { ...options, ...(acl && { acl }) })))
        return undefined;
    }
  }
}

/** False when another client created it first. */
async function make(
  session: Session,
  path: string,
  bytes: Buffer,
  options: CreateOptions,
): Promise<boolean> {
  try {
    await createWithParents(session, path, bytes, options);
    return true;
  } catch (error) {
    if (error instanceof ConflictError && error.reason === "node-exists") return false;
    throw error;
  }
}

function readToken(data: Buffer | null, path: string): bigint | undefined {
  const text = data?.toString().trim() ?? "";
  if (text === "") return undefined;
  if (/^\d{1,20}$/.test(text)) return BigInt(text);
  throw new ConflictError("not-a-token", `the data of ${path} is not a token`, {
    path,
    hint: "use a znode that only fence guard writes",
  });
}

function outdated(token: bigint, stored: bigint, path: string): OperationError {
  return new OperationError(
    "outdated-token",
    `token ${token} is outdated: ${path} has seen ${stored}`,
    { path },
  );
}

/** The part of a session that writes. */
export type Writer = Pick<Session, "create" | "create2" | "setData" | "delete">;

/**
 * Writes only while the tickets of all these locks exist: that is decided in one transaction with
 * the write, so that a holder whose session has expired cannot come late. Everything throws
 * ConflictError `lock-gone` then.
 */
export function fencedWriter(session: Session, nodes: readonly string[]): Writer {
  const create = (
    path: string,
    data: Buffer | null,
    { signal, timeoutMs: _, ...how }: CreateOptions = {},
  ) => fenced(session, nodes, { op: "create", path, data, ...how }, signal ? { signal } : {});
  return {
    create: async (...args) => (await create(...args)).path,
    async create2(path, data, options = {}) {
      const created = await create(path, data, options);
      const stat = created.stat ?? (await session.exists(created.path, options));
      if (stat) return { path: created.path, stat };
      throw new NoNodeError("no-node", `no such znode: ${created.path} (NoNode)`, {
        path: created.path,
      });
    },
    async setData(path, data, { version, ...options } = {}) {
      const op = { op: "setData", path, data, ...(version !== undefined && { version }) } as const;
      return (await fenced(session, nodes, op, options)).stat;
    },
    async delete(path, { version, ...options } = {}) {
      await fenced(
        session,
        nodes,
        { op: "delete", path, ...(version !== undefined && { version }) },
        options,
      );
    },
  };
}

async function fenced<Op extends MultiOp["op"]>(
  session: Session,
  nodes: readonly string[],
  op: Extract<MultiOp, { op: Op }>,
  options: CallOptions,
): Promise<Extract<MultiResult, { op: Op }>> {
  try {
    const checks = nodes.map((path): MultiOp => ({ op: "check", path }));
    const { results } = await session.multi([...checks, op], options);
    // Each operation is answered in its own kind.
    return results[checks.length] as Extract<MultiResult, { op: Op }>;
  } catch (error) {
    const node = error instanceof NoNodeError ? nodes.find((one) => one === error.path) : undefined;
    if (node === undefined) throw error;
    throw new ConflictError("lock-gone", `the lock ${node} is gone: nothing was written`, {
      path: node,
      hint: "its session expired, or a client deleted it",
      cause: error,
    });
  }
}
