import { defineCommand } from "./command.ts";

export const pwd = defineCommand({
  examples: ["pwd"],
  effect: "none",
  args: {},
  options: {},
  async run({ shell }) {
    return { kind: "working-znode", path: shell.cwd, hasMoved: false };
  },
});
