import type { GroupEntry } from "../command.ts";

/** Commands for quotas, in the order of `help`. */
export const quotas: readonly GroupEntry[] = [
  {
    name: "setquota",
    summary: "limit the znodes or bytes of a tree",
    load: async () => (await import("../setquota.ts")).setquota,
  },
  {
    name: "listquota",
    summary: "print the quota of a tree and its usage",
    load: async () => (await import("../listquota.ts")).listquota,
  },
  {
    name: "delquota",
    summary: "remove a quota or one of its limits",
    load: async () => (await import("../delquota.ts")).delquota,
  },
];
