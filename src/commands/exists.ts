import { required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const exists = defineCommand({
  details: "Exit code 0 says yes, 1 says no.",
  examples: ["exists /zookeeper"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: {},
  oneFlight: true,
  async run({ session, signal }, { path }) {
    return { kind: "existence", path, exists: (await session().exists(path, { signal })) !== undefined };
  },
});
