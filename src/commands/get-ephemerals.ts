import { optional, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const getEphemerals = defineCommand({
  details:
    "Only the znodes of this session are listed, so a one-shot command never lists any. Needs " +
    "ZooKeeper 3.6.",
  examples: ["getEphemerals", "getEphemerals /app"],
  effect: "read",
  args: { path: optional(znodePath, "list only paths that start with this one (default: all)") },
  options: {},
  async run({ session, signal, shell }, { path }) {
    return {
      kind: "ephemerals",
      paths: await session().getEphemerals(path, { signal }),
      isOneShot: shell.isOneShot,
    };
  },
});
