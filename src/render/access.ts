/** The answers of `can`. */
import type { PermissionResult } from "../results/access.ts";
import { formatAcl } from "../session/acl.ts";
import { namesFor, type Rendered, type View } from "./renderer.ts";

export function textPermission(result: PermissionResult, view: View): Rendered {
  const name = namesFor(view);
  const answer = answerOf(result);
  const entry = result.entry === undefined ? "" : name(formatAcl(result.entry));
  if (view.isTTY) return { out: `${answer}: ${sentence(result, entry, name)}\n` };
  const isUnclear = result.isPermitted === undefined && !view.isQuiet;
  return {
    out: `${[answer, name(result.aclOf), entry].join("\t")}\n`,
    ...(isUnclear && { err: `note: ${sentence(result, entry, name)}\n` }),
  };
}

export function jsonPermission(result: PermissionResult): object {
  const { permission, path, aclOf, isPermitted, entry } = result;
  return {
    path,
    permission,
    can: isPermitted ?? null,
    aclOf,
    ...(entry && { entry: formatAcl(entry) }),
    reason: sentence(result, entry === undefined ? "" : formatAcl(entry), (text) => text),
  };
}

function answerOf({ isPermitted }: PermissionResult): string {
  if (isPermitted === undefined) return "cannot tell";
  return isPermitted ? "yes" : "no";
}

type Name = (text: string) => string;

function sentence(result: PermissionResult, entry: string, name: Name): string {
  const { path, aclOf, permission, who } = result;
  const isNearest = permission === "create" && aclOf !== path;
  const at = isNearest
    ? `${name(aclOf)} (the nearest existing parent of ${name(path)})`
    : permission === "delete"
      ? `${name(aclOf)} (the parent)`
      : name(aclOf);
  switch (result.why) {
    case "super":
      return "the session is a super user, for whom no ACL counts";
    case "root":
      return "/ cannot be deleted";
    case "ephemeral":
      return `${name(aclOf)} is ephemeral and cannot have children`;
    case "empty-acl":
      return `the ACL of ${at} is empty, which permits everything`;
    case "shown":
      return `the server showed the ACL of ${at}, which takes ${permission} permission`;
    case "hidden-acl":
      return `the server shows the ACL of ${at} only with read or admin permission`;
    case "hidden-hashes":
      return `the server hid the hashes in the ACL of ${at}, as it does without admin permission`;
    case "hidden-hash":
      return `${entry} of ${at} may be this session's or not: hashes are shown only with admin permission`;
    case "other-hash":
      return `${entry} of ${at} has a hash of another kind than SHA-1`;
    case "unnamed":
      return `the server does not name the identities of this session (ZooKeeper 3.7 does)${entry === "" ? "" : `, and ${entry} of ${at} may be one`}`;
    case "other-scheme":
      return `only the server can compare ${entry} of ${at} with this session`;
    case "local-address": {
      const verb = result.isPermitted ? "permits it" : "does not match";
      return `${entry} of ${at} ${verb} by the address of this end of the connection, ${who.localAddress}; behind NAT the server sees another one`;
    }
    default:
      return result.isPermitted
        ? `${entry} of ${at}`
        : `no entry of ${at} gives ${permission} permission to this session`;
  }
}
