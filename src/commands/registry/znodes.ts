import type { GroupEntry } from "../command.ts";

/** Commands for single znodes and their children, in the order of `help`. */
export const znodes: readonly GroupEntry[] = [
  {
    name: "get",
    isPaged: true,
    summary: "print a znode's data",
    load: async () => (await import("../get.ts")).get,
  },
  {
    name: "ls",
    isPaged: true,
    summary: "list the children of a znode",
    load: async () => (await import("../ls.ts")).ls,
  },
  {
    name: "stat",
    isPaged: true,
    summary: "print a znode's stat",
    load: async () => (await import("../stat.ts")).stat,
  },
  {
    name: "exists",
    summary: "tell whether a znode exists",
    load: async () => (await import("../exists.ts")).exists,
  },
  {
    name: "create",
    summary: "create a znode",
    load: async () => (await import("../create.ts")).create,
  },
  {
    name: "set",
    summary: "replace a znode's data",
    load: async () => (await import("../set.ts")).set,
  },
  {
    name: "edit",
    summary: "change a znode's data in an editor",
    load: async () => (await import("../edit.ts")).edit,
  },
  {
    name: "delete",
    summary: "delete a znode that has no children",
    load: async () => (await import("../delete.ts")).deleteNode,
  },
  {
    name: "deleteall",
    aliases: ["rmr"],
    summary: "delete a znode and everything below it",
    load: async () => (await import("../deleteall.ts")).deleteall,
  },
  {
    name: "txn",
    summary: "carry out several writes as one, or none of them",
    load: async () => (await import("../txn.ts")).txn,
  },
  {
    name: "getAllChildrenNumber",
    summary: "count all znodes below a znode",
    load: async () => (await import("../get-all-children-number.ts")).getAllChildrenNumber,
  },
  {
    name: "getEphemerals",
    isPaged: true,
    summary: "list the ephemeral znodes of this session",
    load: async () => (await import("../get-ephemerals.ts")).getEphemerals,
  },
  {
    name: "ls2",
    isPaged: true,
    summary: "list children and print the stat, like ls -s",
    load: async () => (await import("../ls2.ts")).ls2,
  },
];
