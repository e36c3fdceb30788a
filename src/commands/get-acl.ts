import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const getAcl = defineCommand({
  details:
    "One entry a line, as setAcl takes them: scheme:id:perms. Without the a permission hashes are shown as x.",
  examples: ["getAcl /zookeeper", "getAcl -s /app/secret"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: { stat: flag("-s", "print its stat too") },
  oneFlight: true,
  async run({ session, signal }, { path }, { stat: withStat }) {
    const { acl, stat } = await session().getAcl(path, { signal });
    return { kind: "acl", path, acl, stat, withStat };
  },
});
