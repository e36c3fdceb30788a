import { defineCommand } from "./command.ts";

export const quit = defineCommand({
  details:
    "quit closes the session, which ends its ephemeral znodes and locks. Ctrl-D does the same.",
  examples: ["quit"],
  effect: "none",
  args: {},
  options: {},
  async run() {
    return { kind: "exit" };
  },
});
