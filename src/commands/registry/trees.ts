import type { GroupEntry } from "../command.ts";

/** Commands for whole trees of znodes, in the order of `help`. */
export const trees: readonly GroupEntry[] = [
  {
    name: "tree",
    isPaged: true,
    summary: "draw a znode and everything below it",
    load: async () => (await import("../tree.ts")).tree,
  },
  {
    name: "find",
    isPaged: true,
    summary: "search a tree by names, kinds, ages, sizes or data",
    load: async () => (await import("../find.ts")).find,
  },
  {
    name: "grep",
    isPaged: true,
    summary: "search the data of a tree",
    load: async () => (await import("../grep.ts")).grep,
  },
  {
    name: "du",
    isPaged: true,
    summary: "sum the sizes of subtrees, or show the largest",
    load: async () => (await import("../du.ts")).du,
  },
  {
    name: "cp",
    summary: "copy znodes or trees, also between servers",
    load: async () => (await import("../cp.ts")).cp,
  },
  {
    name: "mv",
    summary: "move a znode and everything below it",
    load: async () => (await import("../mv.ts")).mv,
  },
  {
    name: "diff",
    isPaged: true,
    summary: "compare two trees, or a tree and an export",
    load: async () => (await import("../diff.ts")).diff,
  },
  {
    name: "export",
    isPaged: true,
    summary: "write a tree to a file",
    load: async () => (await import("../export.ts")).exportTree,
  },
  {
    name: "import",
    summary: "restore a tree from a file",
    load: async () => (await import("../import.ts")).importTree,
  },
  {
    name: "undo",
    summary: "bring back what the last command on a terminal destroyed",
    load: async () => (await import("../undo.ts")).undo,
  },
  {
    name: "wait-for",
    summary: "wait until a znode exists, is gone or has a value",
    load: async () => (await import("../wait-for.ts")).waitFor,
  },
];
