import { defineCommand } from "./command.ts";

export const pwd = defineCommand({
  examples: ["pwd"],
  effect: "none",
  args: {},
  options: {},
  async run({ cwd }) {
    return { kind: "working-znode", path: cwd, hasMoved: false };
  },
});
