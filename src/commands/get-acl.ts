import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const getAcl = defineCommand({
  details:
    "getAcl prints one entry per line, in the form that setAcl takes: scheme:id:perms. Without " +
    "the a permission on the " +
    "znode, servers show password hashes as x.",
  examples: ["getAcl /zookeeper", "getAcl -s /app/secret"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: { stat: flag("-s", "print the stat too") },
  oneFlight: true,
  async run({ session, signal }, { path }, { stat: withStat }) {
    const { acl, stat } = await session().getAcl(path, { signal });
    return { kind: "acl", path, acl, stat, withStat };
  },
});
