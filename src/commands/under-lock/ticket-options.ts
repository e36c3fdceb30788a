import { UsageError } from "../../errors.ts";
import type { LockOptions } from "../../recipes/locks/queue/queue-lock.ts";
import { checkedAcl, formatAcl } from "../../session/acl.ts";
import { Permission } from "../../session/session.ts";
import type { Context } from "../command.ts";
import { outerLocks } from "./environment.ts";
import type { LockValues } from "./options.ts";

/** What the tickets say, and how they are made. */
export function lockOptions(context: Context, values: LockValues, cmd?: string): LockOptions {
  const { who, host, pid, tool } = context.self;
  const { why, compat } = values;
  const within = outerLocks(context.env).map(({ token }) => token);
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

/** Who may make, delete and see tickets. */
const QUEUING = Permission.create | Permission.delete | Permission.read;

/** Throws UsageError for ACLs that would shut everybody out. */
function lockAcls({
  acl: entries,
  pathAcl = entries,
}: LockValues): Pick<LockOptions, "acl" | "pathAcl"> {
  if (pathAcl === undefined) return {};
  checkedAcl(pathAcl);
  const granted = pathAcl.reduce((sum, { perms }) => sum | perms, 0);
  if ((granted & QUEUING) !== QUEUING) {
    throw new UsageError(
      `nobody could queue below a lock path with the ACL ${pathAcl.map(formatAcl).join()}`,
      {
        hint: "tickets need c, d and r on their path: give them in --path-acl, for example auth::cdrwa",
      },
    );
  }
  return { pathAcl, ...(entries && { acl: checkedAcl(entries) }) };
}
