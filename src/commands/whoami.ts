import { defineCommand } from "./command.ts";

export const whoami = defineCommand({
  details: "One identity a line, as in an ACL: scheme:id. Needs ZooKeeper 3.7.",
  examples: ["whoami"],
  effect: "read",
  args: {},
  options: {},
  async run({ session, signal }) {
    return { kind: "identities", identities: await session().whoAmI({ signal }) };
  },
});
