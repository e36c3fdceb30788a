/**
 * The registry: every command in the order of `help`. Each group has a file in registry/. Modules
 * are loaded when their command is used.
 */
import type { CommandEntry, CommandGroup, GroupEntry } from "./command.ts";
import { access } from "./registry/access.ts";
import { locks } from "./registry/locks.ts";
import { quotas } from "./registry/quotas.ts";
import { server } from "./registry/server.ts";
import { shell } from "./registry/shell.ts";
import { trees } from "./registry/trees.ts";
import { watches } from "./registry/watches.ts";
import { znodes } from "./registry/znodes.ts";

const groups: Readonly<Record<CommandGroup, readonly GroupEntry[]>> = {
  znodes,
  trees,
  locks,
  watches,
  access,
  quotas,
  server,
  shell,
};

export const commands: readonly CommandEntry[] = Object.entries(groups).flatMap(([name, entries]) =>
  entries.map((entry) => ({ ...entry, group: name as CommandGroup })),
);
