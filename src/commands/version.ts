import { defineCommand } from "./command.ts";

export const version = defineCommand({
  examples: ["version"],
  effect: "none",
  args: {},
  options: {},
  async run({ program }) {
    return { kind: "version", version: program.version() };
  },
});
