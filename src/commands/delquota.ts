import { deleteQuota } from "../recipes/quota.ts";
import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { noQuota } from "./listquota.ts";
import { refuseOnKeeper } from "./not-on-keeper.ts";
import { namedLimits } from "./quota-options.ts";

export const delquota = defineCommand({
  details:
    "Without an option the whole quota is removed. The exit code is 3 if the tree has no quota.",
  examples: ["delquota /app", "delquota -b /app"],
  effect: "write",
  args: { path: required(znodePath, "the znode") },
  options: {
    count: flag("-n", "remove only the soft limit on znodes"),
    bytes: flag("-b", "remove only the soft limit on bytes"),
    countHard: flag("-N", "remove only the hard limit on znodes"),
    bytesHard: flag("-B", "remove only the hard limit on bytes"),
  },
  async run({ session, signal }, { path }, { count, bytes, countHard, bytesHard }) {
    const limits = namedLimits<boolean>({
      count,
      bytes,
      countHardLimit: countHard,
      byteHardLimit: bytesHard,
    });
    await refuseOnKeeper(session(), "quotas are", { signal });
    const keys = limits.map(([key]) => key);
    if (!(await deleteQuota(session(), path, keys, { signal }))) throw noQuota(path);
    return { kind: "quota-deleted", path };
  },
});
