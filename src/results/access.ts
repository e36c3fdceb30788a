/** What is said of ACLs and of who this session is. */

import type { Access, PermissionName } from "../recipes/access/check-access.ts";
import type { Acl, Identity, Stat } from "../session/session.ts";

interface AclResult {
  readonly kind: "acl";
  readonly path: string;
  readonly acl: readonly Acl[];
  readonly stat: Stat;
  readonly withStat: boolean;
}

interface AclChangedResult {
  readonly kind: "acl-changed";
  readonly path: string;
  readonly stat: Stat;
  readonly withStat: boolean;
}

interface TreeAclChangedResult {
  readonly kind: "tree-acl-changed";
  readonly path: string;
  /** How many znodes, the root among them. */
  readonly count: number;
}

interface IdentifiedResult {
  readonly kind: "identified";
  readonly scheme: string;
  /** The session, and with it the identity, ends with this command. */
  readonly isShortLived: boolean;
}

/** Who the server takes this session for. */
interface IdentitiesResult {
  readonly kind: "identities";
  readonly identities: readonly Identity[];
}

/** Whether the session may do something; undefined where it cannot be told. */
export interface PermissionResult extends Access {
  readonly kind: "permission";
  readonly permission: PermissionName;
  readonly path: string;
}

export type AccessResult =
  | PermissionResult
  | AclResult
  | AclChangedResult
  | TreeAclChangedResult
  | IdentifiedResult
  | IdentitiesResult;
