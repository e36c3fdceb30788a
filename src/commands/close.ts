import { defineCommand } from "./command.ts";

export const close = defineCommand({
  details:
    "The ephemeral znodes, watches and locks of the session end with it. connect opens a new " +
    "session.",
  examples: ["close"],
  effect: "none",
  args: {},
  options: {},
  async run({ shell }) {
    await shell.disconnect();
    return { kind: "disconnected" };
  },
});
