import { deleteQuota } from "../recipes/quota.ts";
import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { noQuota } from "./listquota.ts";
import { namedLimits } from "./quota-options.ts";

export const delquota = defineCommand({
  details: "Exit code 3 says that there was none.",
  examples: ["delquota /app", "delquota -b /app"],
  effect: "write",
  args: { path: required(znodePath, "the znode") },
  options: {
    count: flag("-n", "only the limit of -n"),
    bytes: flag("-b", "only the limit of -b"),
    countHard: flag("-N", "only the limit of -N"),
    bytesHard: flag("-B", "only the limit of -B"),
  },
  async run({ session, signal }, { path }, { count, bytes, countHard, bytesHard }) {
    const limits = namedLimits<boolean>({
      count,
      bytes,
      countHardLimit: countHard,
      byteHardLimit: bytesHard,
    });
    const keys = limits.map(([key]) => key);
    if (!(await deleteQuota(session(), path, keys, { signal }))) throw noQuota(path);
    return { kind: "quota-deleted", path };
  },
});
