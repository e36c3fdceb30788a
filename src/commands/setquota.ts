import { RefusedError, UsageError } from "../errors.ts";
import { exceeded, setQuota } from "../recipes/quota.ts";
import { QUOTA_ROOT } from "../session/system-path.ts";
import { option, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { refuseOnKeeper } from "./not-on-keeper.ts";
import { bytesLimit, countLimit, namedLimits } from "./quota-options.ts";

export const setquota = defineCommand({
  details:
    "The count includes the znode itself. A server logs a warning when a soft limit is passed; " +
    "it enforces only hard limits, " +
    "and only with zookeeper.enforceQuota=true (3.7). A tree with a quota cannot contain " +
    "another quota.",
  examples: ["setquota -n 100 /app", "setquota -B 1000000 /app"],
  effect: "write",
  args: { path: required(znodePath, "the znode") },
  options: {
    count: option("-n", "val", countLimit, "soft limit on the number of znodes"),
    bytes: option("-b", "val", bytesLimit, "soft limit on the bytes of data"),
    countHard: option("-N", "val", countLimit, "hard limit on the number of znodes"),
    bytesHard: option("-B", "val", bytesLimit, "hard limit on the bytes of data"),
  },
  async run(
    { session, signal, output: { isZkcli } },
    { path },
    { count, bytes, countHard, bytesHard },
  ) {
    const limits = namedLimits<bigint>({
      count,
      bytes,
      countHardLimit: countHard,
      byteHardLimit: bytesHard,
    });
    if (limits.length === 0) {
      throw new UsageError("no limit given", {
        reason: "missing-option",
        hint: "use one of -n, -b, -N and -B",
      });
    }
    if (path === "/") {
      // The first text is zkCli's.
      const message = isZkcli ? "Path must not end with / character" : "a quota cannot be set on /";
      throw new UsageError(message, { reason: "bad-path", path });
    }
    if (path.startsWith(QUOTA_ROOT)) {
      throw new RefusedError("protected-path", `cannot set a quota under the path: ${QUOTA_ROOT}`, {
        path,
      });
    }
    await refuseOnKeeper(session(), "quotas are", { signal });
    const quota = await setQuota(session(), path, Object.fromEntries(limits), { signal });
    return { kind: "quota-changed", path, ...quota, exceeded: exceeded(quota) };
  },
});
