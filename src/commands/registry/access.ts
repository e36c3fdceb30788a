import type { GroupEntry } from "../command.ts";

/** Commands for ACLs and identities, in the order of `help`. */
export const access: readonly GroupEntry[] = [
  {
    name: "getAcl",
    summary: "print a znode's ACL",
    load: async () => (await import("../get-acl.ts")).getAcl,
  },
  {
    name: "setAcl",
    summary: "change a znode's ACL",
    load: async () => (await import("../set-acl.ts")).setAcl,
  },
  {
    name: "can",
    summary: "tell whether this session may do something, and why",
    load: async () => (await import("../can.ts")).can,
  },
  {
    name: "addauth",
    summary: "authenticate this session",
    load: async () => (await import("../addauth.ts")).addauth,
  },
  {
    name: "whoami",
    summary: "print the identities of this session",
    load: async () => (await import("../whoami.ts")).whoami,
  },
];
