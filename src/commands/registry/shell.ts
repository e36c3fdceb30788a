import type { GroupEntry } from "../command.ts";

/** Commands of the shell itself, in the order of `help`. */
export const shell: readonly GroupEntry[] = [
  {
    name: "help",
    isPaged: true,
    aliases: ["?"],
    summary: "explain a command or a topic",
    needsNoShellSession: true,
    load: async () => (await import("../help.ts")).help,
  },
  {
    name: "version",
    summary: "print the version of zksh",
    needsNoShellSession: true,
    load: async () => (await import("../version.ts")).version,
  },
  {
    name: "cd",
    summary: "change the working znode",
    load: async () => (await import("../cd.ts")).cd,
  },
  {
    name: "pwd",
    summary: "print the working znode",
    needsNoShellSession: true,
    load: async () => (await import("../pwd.ts")).pwd,
  },
  {
    name: "settings",
    isPaged: true,
    summary: "print the settings in use and their origins",
    needsNoShellSession: true,
    load: async () => (await import("../settings.ts")).settings,
  },
  {
    name: "connect",
    summary: "open a new session, to the same or other servers",
    needsNoShellSession: true,
    load: async () => (await import("../connect.ts")).connect,
  },
  {
    name: "close",
    summary: "close the session",
    needsNoShellSession: true,
    load: async () => (await import("../close.ts")).close,
  },
  {
    name: "history",
    isPaged: true,
    summary: "list the lines typed so far",
    needsNoShellSession: true,
    load: async () => (await import("../history.ts")).history,
  },
  {
    name: "redo",
    summary: "run a line of the history again",
    needsNoShellSession: true,
    load: async () => (await import("../redo.ts")).redo,
  },
  {
    name: "printwatches",
    summary: "turn watch events on or off",
    needsNoShellSession: true,
    load: async () => (await import("../printwatches.ts")).printwatches,
  },
  {
    name: "clear",
    summary: "clear the screen",
    needsNoShellSession: true,
    load: async () => (await import("../clear.ts")).clear,
  },
  {
    name: "quit",
    aliases: ["exit"],
    summary: "leave the shell",
    needsNoShellSession: true,
    load: async () => (await import("../quit.ts")).quit,
  },
];
