/**
 * What zkCli says of failures that have a text of their own with one command, some of it on stdout.
 */

import { limitsPath } from "../session/quota.ts";
import { escapeName } from "../text/escape.ts";
import type { Failure, Rendered } from "./renderer.ts";
import { zkcliUsage } from "./zkcli-usage.ts";

/** Undefined where the failure has the text that all commands share. */
export function commandFailure({
  command,
  reason,
  code,
  path = "",
}: Failure): Rendered | undefined {
  const name = escapeName(path);
  switch (command) {
    case "sync":
      return code === undefined ? undefined : { out: `Sync has failed. rc=${code}\n` };
    case "deleteall":
    case "rmr":
      return reason === "partial"
        ? { err: "Failed to delete some node(s) in the subtree!\n" }
        : undefined;
    case "setAcl":
      // Every znode has had its line already.
      return reason === "partial" ? {} : undefined;
    case "reconfig":
      return reason === "missing-argument" ? { err: `${zkcliUsage(command)}\n` } : undefined;
    case "setquota":
      if (reason === "bad-number")
        return { err: "NumberFormatException happens when parsing the option value\n" };
      return reason === "no-node" ? { err: `${name} does not exist.\n` } : undefined;
    case "listquota":
      if (reason !== "no-quota") return undefined;
      return {
        err: `absolute path is ${escapeName(limitsPath(path))}\nquota for ${name} does not exist.\n`,
      };
    case "delquota":
      return reason === "no-quota" ? { out: `Quota does not exist for ${name}\n` } : undefined;
    default:
      return undefined;
  }
}
