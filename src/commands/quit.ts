import { defineCommand } from "./command.ts";

export const quit = defineCommand({
  details: "The session is closed; its ephemerals go with it. Ctrl-D does the same.",
  examples: ["quit"],
  effect: "none",
  args: {},
  options: {},
  async run() {
    return { kind: "exit" };
  },
});
