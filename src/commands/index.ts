/** The registry: every command in the order of `help`. Modules are loaded when their command is used. */
import type { CommandEntry } from "./command.ts";

export const commands: readonly CommandEntry[] = [
  {
    name: "get",
    summary: "print a znode's data",
    group: "znodes",
    load: async () => (await import("./get.ts")).get,
  },
  {
    name: "ls",
    summary: "list the children of a znode",
    group: "znodes",
    load: async () => (await import("./ls.ts")).ls,
  },
  {
    name: "stat",
    summary: "print a znode's stat",
    group: "znodes",
    load: async () => (await import("./stat.ts")).stat,
  },
  {
    name: "exists",
    summary: "tell whether there is such a znode",
    group: "znodes",
    load: async () => (await import("./exists.ts")).exists,
  },
  {
    name: "create",
    summary: "create a znode",
    group: "znodes",
    load: async () => (await import("./create.ts")).create,
  },
  {
    name: "set",
    summary: "replace a znode's data",
    group: "znodes",
    load: async () => (await import("./set.ts")).set,
  },
  {
    name: "delete",
    summary: "delete a znode that has no children",
    group: "znodes",
    load: async () => (await import("./delete.ts")).deleteNode,
  },
  {
    name: "help",
    aliases: ["?"],
    summary: "show all commands, or one in full",
    group: "shell",
    isOffline: true,
    load: async () => (await import("./help.ts")).help,
  },
  {
    name: "version",
    summary: "print the version of zksh",
    group: "shell",
    isOffline: true,
    load: async () => (await import("./version.ts")).version,
  },
];
