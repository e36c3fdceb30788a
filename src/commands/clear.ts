import { defineCommand } from "./command.ts";

export const clear = defineCommand({
  examples: ["clear"],
  effect: "none",
  args: {},
  options: {},
  async run() {
    return { kind: "clear" };
  },
});
