import { UsageError } from "../../errors.ts";
import type { LockOptions } from "../../recipes/locks/queue/queue-lock.ts";
import { checkedAcl, formatAcl } from "../../session/acl.ts";
import { Permission } from "../../session/session.ts";
import type { Context } from "../command.ts";
import { outerLocks } from "./environment.ts";
import type { LockValues } from "./options.ts";

/** Returns the holder record and the ACLs of the tickets. */
export function lockOptions(context: Context, values: LockValues, cmd?: string): LockOptions {
  const { who, host, pid, tool } = context.program.self;
  const { why, compat } = values;
  const within = outerLocks(context.program.env).map(({ token }) => token);
  const known = {
    ...(cmd !== undefined && { cmd }),
    ...(why !== undefined && { why }),
    ...(within.length > 0 && { within }),
  };
  return {
    holder: { tool, who, host, pid, ...known },
    ...lockAcls(values),
    ...(compat && { compat }),
  };
}

/** The permissions on the lock path that queuing needs. */
const QUEUING = Permission.create | Permission.delete | Permission.read;

/** Throws UsageError for an ACL of the path under which no client could queue. */
function lockAcls({
  acl: entries,
  pathAcl = entries,
}: LockValues): Pick<LockOptions, "acl" | "pathAcl"> {
  if (pathAcl === undefined) return {};
  checkedAcl(pathAcl);
  const granted = pathAcl.reduce((sum, { perms }) => sum | perms, 0);
  if ((granted & QUEUING) !== QUEUING) {
    throw new UsageError(
      `no client could queue at a lock path with the ACL ${pathAcl.map(formatAcl).join()}`,
      {
        hint:
          "queuing needs c, d and r on the path: grant them with --path-acl, for example " +
          "auth::cdrwa",
      },
    );
  }
  return { pathAcl, ...(entries && { acl: checkedAcl(entries) }) };
}
