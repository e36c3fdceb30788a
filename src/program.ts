import { readFileSync } from "node:fs";
import type { Program } from "./commands/command.ts";
import { commands } from "./commands/index.ts";
import { globalOptions, globalTerm } from "./config/global-options.ts";
import type { SettingsFile } from "./config/stored-settings.ts";
import type { Io } from "./io/io.ts";
import type { Aliases } from "./shell/aliases.ts";
import { suggest } from "./text/suggest.ts";

/** What the program knows of itself. Nothing is looked up before it is used. */
export function describeProgram(
  io: Io,
  stored: () => {
    readonly file?: SettingsFile | undefined;
    readonly aliases?: Aliases | undefined;
  } = () => ({}),
): Program {
  return {
    commands,
    env: io.env,
    suggest,
    version,
    get profiles() {
      return [...(stored().file?.profiles.keys() ?? [])];
    },
    get aliases() {
      return stored().aliases?.lines ?? new Map();
    },
    get self() {
      return { ...io.self, tool: `zksh/${version()}` };
    },
    get globalOptions() {
      return globalOptions.map((option) => ({
        term: globalTerm(option),
        summary: option.summary,
        holdsForOneLine: "holdsForOneLine" in option,
        ...("env" in option && { env: option.env }),
      }));
    },
  };
}

function version(): string {
  // One level up from src/ as from dist/.
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
