import { required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const sync = defineCommand({
  details:
    "Ends when the server you are attached to has caught up with the leader, so that what you read next is current.",
  examples: ["sync /"],
  effect: "read",
  args: { path: required(znodePath, "any path; it need not exist") },
  options: {},
  oneFlight: true,
  async run({ session, signal }, { path }) {
    await session().sync(path, { signal });
    return { kind: "synced", path };
  },
});
