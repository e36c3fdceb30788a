import type { GroupEntry } from "../command.ts";

/** Commands for the servers of an ensemble, and a server for tests, in the order of `help`. */
export const server: readonly GroupEntry[] = [
  {
    name: "doctor",
    isPaged: true,
    summary: "examine servers, ensemble and tree, and say what helps",
    // It finds out itself which servers take a session.
    needsNoShellSession: true,
    load: async () => (await import("../doctor.ts")).doctor,
  },
  {
    name: "sync",
    summary: "wait until the server has caught up with the leader",
    load: async () => (await import("../sync.ts")).sync,
  },
  {
    name: "config",
    isPaged: true,
    summary: "print the ensemble's configuration",
    load: async () => (await import("../config.ts")).config,
  },
  {
    name: "reconfig",
    summary: "change the members of the ensemble",
    load: async () => (await import("../reconfig.ts")).reconfig,
  },
  {
    name: "top",
    summary: "show the load of each server, live",
    needsNoShellSession: true,
    load: async () => (await import("../top.ts")).top,
  },
  {
    name: "session",
    isPaged: true,
    summary: "print what a session owns, its locks and its client",
    load: async () => (await import("../session.ts")).session,
  },
  {
    name: "word",
    summary: "send a four-letter word to one server or all of them",
    needsNoShellSession: true,
    load: async () => (await import("../word.ts")).word,
  },
  {
    name: "serve",
    summary: "run a ZooKeeper server in memory, for tests",
    needsNoShellSession: true,
    endsBySignal: true,
    load: async () => (await import("../serve.ts")).serve,
  },
];
