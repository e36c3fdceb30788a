import type { GroupEntry } from "../command.ts";

/** Commands that take, show or break locks, or rest on them, in the order of `help`. */
export const locks: readonly GroupEntry[] = [
  {
    name: "lock",
    summary: "run a command under an exclusive lock",
    needsNoShellSession: true,
    isGuard: true,
    load: async () => (await import("../lock.ts")).lock,
  },
  {
    name: "rwlock",
    summary: "run a command under a read or write lock",
    needsNoShellSession: true,
    isGuard: true,
    load: async () => (await import("../rwlock.ts")).rwlock,
  },
  {
    name: "sem",
    summary: "limit how many commands run at once",
    needsNoShellSession: true,
    isGuard: true,
    load: async () => (await import("../sem.ts")).sem,
  },
  {
    name: "elect",
    summary: "run a command as the leader, or show the leader",
    needsNoShellSession: true,
    isGuard: true,
    load: async () => (await import("../elect.ts")).elect,
  },
  {
    name: "once",
    summary: "run a command once in each period, on one of all hosts",
    needsNoShellSession: true,
    isGuard: true,
    load: async () => (await import("../once.ts")).once,
  },
  {
    name: "unlock",
    summary: "release a lock taken in this shell",
    needsNoShellSession: true,
    load: async () => (await import("../unlock.ts")).unlock,
  },
  {
    name: "whoholds",
    summary: "show the holders and waiters of a lock",
    load: async () => (await import("../whoholds.ts")).whoholds,
  },
  {
    name: "revoke",
    summary: "ask the holder of a lock to give it up",
    load: async () => (await import("../revoke.ts")).revoke,
  },
  {
    name: "fence",
    summary: "reject writers whose lock is gone",
    load: async () => (await import("../fence.ts")).fence,
  },
];
