/**
 * The checks before a change, in ZooKeeper's order, because the first one that fails gives the
 * answer. Each returns what is to be done; nothing is done here, so that a multi can be checked as
 * a whole before its first change.
 */
import { Opcode } from "../wire/protocol.ts";
import type { AclRecord, CreateRecord } from "../wire/records.ts";
import { type AuthIdentity, checkAccess, Perm, resolveAcl } from "./access.ts";
import { formatSequence, isValidPath, parentOf, SYSTEM_PATHS } from "./paths.ts";
import type { Quotas } from "./quotas.ts";
import { refuse } from "./refusal.ts";
import type { NewZnode } from "./tree.ts";
import { CONTAINER, type Lifetime, PERSISTENT, type ZnodeState } from "./znode.ts";

export type CheckedChange =
  | ({ readonly type: "create" } & NewZnode)
  | { readonly type: "delete"; readonly path: string }
  | {
      readonly type: "setData";
      readonly path: string;
      readonly data: Buffer | null;
      readonly version: number;
    }
  | {
      readonly type: "setAcl";
      readonly path: string;
      readonly acl: readonly AclRecord[];
      readonly version: number;
    }
  | { readonly type: "check"; readonly path: string };

/** What a change is checked against. */
export interface CheckContext {
  /** The tree, or the tree as the earlier changes of a multi will leave it. */
  find(path: string): ZnodeState | undefined;
  readonly identities: readonly AuthIdentity[];
  readonly sessionId: bigint;
  /** Left out where quotas are not enforced. */
  readonly quotas: Quotas | undefined;
}

const ANY_VERSION = -1;
/** Forty bits. */
const MAX_TTL_MS = 0xff_ffff_ffff;

const MODES: readonly {
  readonly isEphemeral?: true;
  readonly isSequential?: true;
  readonly hasTtl?: true;
}[] = [
  {},
  { isEphemeral: true },
  { isSequential: true },
  { isEphemeral: true, isSequential: true },
  {}, // container
  { hasTtl: true },
  { hasTtl: true, isSequential: true },
];

export function checkCreate(
  around: CheckContext,
  opcode: number,
  request: CreateRecord,
): CheckedChange {
  const { path: asked, data, ttlMs = -1n } = request;
  const mode = MODES[request.flags] ?? refuse("badArguments");
  if (mode.hasTtl ? ttlMs <= 0n || ttlMs > MAX_TTL_MS : ttlMs >= 0n) refuse("badArguments");
  if (!asked.includes("/") || asked.includes("\0")) refuse("badArguments");
  const acl = resolveAcl(request.acl, around.identities);
  const parent = existing(around, parentOf(asked));
  checkAccess(parent.acl, Perm.create, around.identities);
  const path = mode.isSequential ? asked + formatSequence(parent.creates) : asked;
  if (!isValidPath(path)) refuse("badArguments");
  if (around.find(path) !== undefined) refuse("nodeExists");
  if (parent.lifetime.kind === "ephemeral") refuse("noChildrenForEphemerals");
  around.quotas?.enforce(path, 1, data?.length ?? 0);
  const lifetime = lifetimeOf(opcode, mode.isEphemeral ?? false, ttlMs, around.sessionId);
  return { type: "create", path, data, acl, lifetime, parentCreates: (parent.creates + 1) | 0 };
}

/**
 * The operation decides, not the mode: a plain create in container mode makes an ordinary znode.
 */
function lifetimeOf(opcode: number, isEphemeral: boolean, ttlMs: bigint, owner: bigint): Lifetime {
  if (opcode === Opcode.createContainer) return CONTAINER;
  if (opcode === Opcode.createTtl) return { kind: "ttl", ttlMs: Number(ttlMs) };
  return isEphemeral ? { kind: "ephemeral", owner } : PERSISTENT;
}

export function checkDelete(around: CheckContext, path: string, version: number): CheckedChange {
  if (!path.includes("/") || path.includes("\0") || SYSTEM_PATHS.has(path)) refuse("badArguments");
  checkAccess(existing(around, parentOf(path)).acl, Perm.delete, around.identities);
  const standing = existing(around, path);
  nextVersion(standing.version, version);
  if (standing.childCount > 0) refuse("notEmpty");
  return { type: "delete", path };
}

export function checkSetData(
  around: CheckContext,
  path: string,
  data: Buffer | null,
  version: number,
): CheckedChange {
  if (!isValidPath(path)) refuse("badArguments");
  const standing = existing(around, path);
  checkAccess(standing.acl, Perm.write, around.identities);
  around.quotas?.enforce(path, 0, (data?.length ?? 0) - (standing.data?.length ?? 0));
  return { type: "setData", path, data, version: nextVersion(standing.version, version) };
}

export function checkSetAcl(
  around: CheckContext,
  path: string,
  asked: readonly AclRecord[],
  version: number,
): CheckedChange {
  if (!isValidPath(path)) refuse("badArguments");
  const acl = resolveAcl(asked, around.identities);
  const standing = existing(around, path);
  checkAccess(standing.acl, Perm.admin, around.identities);
  return { type: "setAcl", path, acl, version: nextVersion(standing.aversion, version) };
}

export function checkVersion(around: CheckContext, path: string, version: number): CheckedChange {
  if (!isValidPath(path)) refuse("badArguments");
  const standing = existing(around, path);
  checkAccess(standing.acl, Perm.read, around.identities);
  nextVersion(standing.version, version);
  return { type: "check", path };
}

function existing(around: CheckContext, path: string): ZnodeState {
  return around.find(path) ?? refuse("noNode");
}

function nextVersion(current: number, expected: number): number {
  if (expected !== ANY_VERSION && expected !== current) refuse("badVersion");
  return (current + 1) | 0;
}
