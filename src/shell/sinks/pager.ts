/** When results go to a pager, and to which. */
import type { Io } from "../../io/io.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Invocation } from "../parsing/parser.ts";
import { runsProgram } from "./line-sink.ts";

/** Colours pass, short output stays, and nothing is cleared. */
const DEFAULT_PAGER = "less -FRX";

/** Results that are longer than the screen go to the pager. Programs write to the terminal. */
export function mayPage({ io, settings }: FrontEnd, invocation: Invocation): boolean {
  if (!invocation.entry.isPaged || !settings.hasPager || settings.output === "zkcli") return false;
  const { isTTY, rows } = io.stdout;
  return isTTY && rows !== undefined && io.env.TERM !== "dumb" && !runsProgram(invocation);
}

/** The command line of the pager; undefined where the user wants none. */
export function pagerCommand({ ZKSH_PAGER: own, PAGER: usual }: Io["env"]): string | undefined {
  const command = (own ?? usual ?? DEFAULT_PAGER).trim();
  return command === "" || command === "cat" ? undefined : command;
}

/** For a pager that the user has chosen: as `less -FRX`, unless the user has options of less. */
export function pagerEnvironment({ LESS: options }: Io["env"]): Readonly<Record<string, string>> {
  return options === undefined ? { LESS: "FRX" } : {};
}
