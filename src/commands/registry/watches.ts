import type { GroupEntry } from "../command.ts";

/** Commands for watches, in the order of `help`. */
export const watches: readonly GroupEntry[] = [
  {
    name: "watch",
    summary: "follow a znode: print each change, or run a command on it",
    load: async () => (await import("../watch.ts")).watch,
  },
  {
    name: "addWatch",
    summary: "set a persistent watch on a znode",
    load: async () => (await import("../add-watch.ts")).addWatch,
  },
  {
    name: "removewatches",
    summary: "remove watches from a znode",
    load: async () => (await import("../removewatches.ts")).removeWatches,
  },
];
