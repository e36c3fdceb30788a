import { NoNodeError } from "../errors.ts";
import { readQuota } from "../recipes/quota.ts";
import { required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { notOnKeeper } from "./not-on-keeper.ts";

export const listquota = defineCommand({
  details: "The exit code is 3 if the tree has no quota.",
  examples: ["listquota /app"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: {},
  oneFlight: true,
  async run({ session, signal }, { path }) {
    const quota = await readQuota(session(), path, { signal });
    if (session().isKeeper) throw notOnKeeper(session(), "quotas are");
    if (!quota) throw noQuota(path);
    return { kind: "quota", path, ...quota };
  },
});

export function noQuota(path: string): NoNodeError {
  return new NoNodeError("no-quota", `no quota is set on ${path}`, { path });
}
