import { checkAccess, type PermissionName } from "../recipes/access/check-access.ts";
import { required, znodePath } from "./arguments.ts";
import { oneOf } from "./choices.ts";
import { defineCommand } from "./command.ts";

const PERMISSIONS: readonly PermissionName[] = ["read", "write", "create", "delete", "admin"];

const permissionName = oneOf(PERMISSIONS, "permission");

export const can = defineCommand({
  details:
    "can compares the ACL with the identities of this session, and prints the entry that decides. " +
    "create means children of the znode, or of its nearest existing parent; delete is decided by " +
    "the ACL of the parent. The exit code is 0 for yes, 1 for no, and 4 where it cannot be told, " +
    "as when the server does not show the ACL. An address is what the server names (3.7), else " +
    "this end of the connection, which is another one behind NAT.",
  examples: ["can read /app/config", "can create /app", "can delete /app/old"],
  effect: "read",
  args: {
    permission: required(permissionName, "read, write, create, delete or admin"),
    path: required(znodePath, "the znode"),
  },
  options: {},
  async run({ session, signal }, { permission, path }) {
    const access = await checkAccess(session(), permission, path, { signal });
    return { kind: "permission", permission, path, ...access };
  },
});
