/** When results go to a pager, and with which variables. */
import type { Io } from "../../io/io.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Invocation } from "../parsing/parser.ts";
import { runsProgram } from "./line-sink.ts";

/** Results that are longer than the screen go to the pager. Programs write to the terminal. */
export function mayPage({ io, settings }: FrontEnd, invocation: Invocation): boolean {
  if (!invocation.entry.isPaged || !settings.hasPager || settings.output === "zkcli") return false;
  const { isTTY, rows } = io.stdout;
  return isTTY && rows !== undefined && io.env.TERM !== "dumb" && !runsProgram(invocation);
}

/** For a pager that the user has chosen: as `less -FRX`, unless the user has options of less. */
export function pagerEnvironment({ LESS: options }: Io["env"]): Readonly<Record<string, string>> {
  return options === undefined ? { LESS: "FRX" } : {};
}
