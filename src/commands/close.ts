import { defineCommand } from "./command.ts";

export const close = defineCommand({
  details: "Its ephemerals and watches end with it. connect opens another session.",
  examples: ["close"],
  effect: "none",
  args: {},
  options: {},
  async run({ shell }) {
    await shell.disconnect();
    return { kind: "disconnected" };
  },
});
