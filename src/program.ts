import { readFileSync } from "node:fs";
import type { Program } from "./commands/command.ts";
import { commands } from "./commands/index.ts";
import { globalOptions, globalTerm } from "./config/global-options.ts";
import type { Io } from "./io/io.ts";
import { suggest } from "./shell/parsing/suggest.ts";

/** What the program knows of itself. Nothing is looked up before it is used. */
export function describeProgram(io: Io): Program {
  return {
    commands,
    env: io.env,
    suggest,
    version,
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
