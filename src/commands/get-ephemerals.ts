import { optional, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const getEphemerals = defineCommand({
  details: "Only those of this session, so a one-shot never sees any. Needs ZooKeeper 3.6.",
  examples: ["getEphemerals", "getEphemerals /app"],
  effect: "read",
  args: { path: optional(znodePath, "only those that begin with it (all, when left out)") },
  options: {},
  async run({ session, signal, isOneShot }, { path }) {
    return {
      kind: "ephemerals",
      paths: await session().getEphemerals(path, { signal }),
      isOneShot,
    };
  },
});
