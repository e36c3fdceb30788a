/**
 * The checks before a change. They run in ZooKeeper's order, because the first failing check
 * decides the error code. Each returns the change without applying it, so that all operations of a
 * multi are checked before the first one is applied.
 */
import { Opcode } from "../wire/protocol.ts";
import type { AclRecord, CreateRecord } from "../wire/records.ts";
import { type AuthIdentity, checkAccess, Perm } from "./access.ts";
import type { Dialect } from "./dialect.ts";
import { formatSequence, isValidPath, parentOf } from "./paths.ts";
import type { Quotas } from "./quotas.ts";
import { refuse } from "./refusal.ts";
import type { NewZnode } from "./tree.ts";
import { type Lifetime, PERSISTENT, type ZnodeState } from "./znode.ts";

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

/** The state and the client that a change is checked against. */
export interface CheckContext {
  /** Finds a znode as it is, or as the earlier operations of the multi will leave it. */
  find(path: string): ZnodeState | undefined;
  readonly identities: readonly AuthIdentity[];
  readonly sessionId: bigint;
  /** ACLs may name users of SASL. */
  readonly doesSasl: boolean;
  readonly dialect: Dialect;
  /** Undefined if quotas are not enforced. */
  readonly quotas: Quotas | undefined;
}

const ANY_VERSION = -1;
/** The TTL has 40 bits. */
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
  context: CheckContext,
  opcode: number,
  request: CreateRecord,
): CheckedChange {
  const { path: asked, data, ttlMs = -1n } = request;
  const mode = MODES[request.flags] ?? refuse("badArguments");
  if (mode.hasTtl ? ttlMs <= 0n || ttlMs > MAX_TTL_MS : ttlMs >= 0n) refuse("badArguments");
  if (!asked.includes("/") || asked.includes("\0")) refuse("badArguments");
  if (context.dialect.isReadOnly(asked)) refuse("badArguments");
  const acl = context.dialect.acl(request.acl, context.identities, context.doesSasl);
  const parent = existing(context, parentOf(asked));
  checkAccess(parent.acl, Perm.create, context.identities);
  const path = mode.isSequential ? asked + formatSequence(parent.creates) : asked;
  if (!isValidPath(path)) refuse("badArguments");
  if (context.find(path) !== undefined) refuse("nodeExists");
  if (parent.lifetime.kind === "ephemeral") refuse("noChildrenForEphemerals");
  context.quotas?.enforce(path, 1, data?.length ?? 0);
  const lifetime = lifetimeOf(context, opcode, mode.isEphemeral ?? false, ttlMs);
  return { type: "create", path, data, acl, lifetime, parentCreates: (parent.creates + 1) | 0 };
}

/**
 * The opcode decides, not the flags: a create request with the container flag creates a persistent
 * znode, as in ZooKeeper 3.8.
 */
function lifetimeOf(
  { dialect, sessionId: owner }: CheckContext,
  opcode: number,
  isEphemeral: boolean,
  ttlMs: bigint,
): Lifetime {
  if (opcode === Opcode.createContainer)
    return { kind: "container", owner: dialect.containerOwner };
  if (opcode === Opcode.createTtl) return { kind: "ttl", ttlMs: Number(ttlMs) };
  return isEphemeral ? { kind: "ephemeral", owner } : PERSISTENT;
}

export function checkDelete(context: CheckContext, path: string, version: number): CheckedChange {
  if (!path.includes("/") || path.includes("\0")) refuse("badArguments");
  if (context.dialect.isKept(path)) refuse("badArguments");
  checkAccess(existing(context, parentOf(path)).acl, Perm.delete, context.identities);
  const znode = existing(context, path);
  nextVersion(znode.version, version);
  if (znode.childCount > 0) refuse("notEmpty");
  return { type: "delete", path };
}

export function checkSetData(
  context: CheckContext,
  path: string,
  data: Buffer | null,
  version: number,
): CheckedChange {
  if (!isValidPath(path) || context.dialect.isReadOnly(path)) refuse("badArguments");
  const znode = existing(context, path);
  checkAccess(znode.acl, Perm.write, context.identities);
  context.quotas?.enforce(path, 0, (data?.length ?? 0) - (znode.data?.length ?? 0));
  return { type: "setData", path, data, version: nextVersion(znode.version, version) };
}

export function checkSetAcl(
  context: CheckContext,
  path: string,
  asked: readonly AclRecord[],
  version: number,
): CheckedChange {
  if (!isValidPath(path) || context.dialect.isReadOnly(path)) refuse("badArguments");
  const acl = context.dialect.acl(asked, context.identities, context.doesSasl);
  const znode = existing(context, path);
  checkAccess(znode.acl, Perm.admin, context.identities);
  return { type: "setAcl", path, acl, version: nextVersion(znode.aversion, version) };
}

export function checkVersion(context: CheckContext, path: string, version: number): CheckedChange {
  if (!isValidPath(path)) refuse("badArguments");
  const znode = existing(context, path);
  checkAccess(znode.acl, Perm.read, context.identities);
  nextVersion(znode.version, version);
  return { type: "check", path };
}

function existing(context: CheckContext, path: string): ZnodeState {
  return context.find(path) ?? refuse("noNode");
}

function nextVersion(current: number, expected: number): number {
  if (expected !== ANY_VERSION && expected !== current) refuse("badVersion");
  return (current + 1) | 0;
}
