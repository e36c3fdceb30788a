import { defineCommand } from "./command.ts";

export const whoami = defineCommand({
  details:
    "whoami prints one identity per line, in the form of an ACL entry: scheme:id. Needs " +
    "ZooKeeper 3.7.",
  examples: ["whoami"],
  effect: "read",
  args: {},
  options: {},
  async run({ session, signal }) {
    return { kind: "identities", identities: await session().whoAmI({ signal }) };
  },
});
