import { required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const sync = defineCommand({
  details:
    "sync ends when the server of this session has applied all that the leader had committed, " +
    "so that the next read is " +
    "current.",
  examples: ["sync /"],
  effect: "read",
  args: { path: required(znodePath, "any path; the znode need not exist") },
  options: {},
  oneFlight: true,
  async run({ session, signal }, { path }) {
    await session().sync(path, { signal });
    return { kind: "synced", path };
  },
});
