import type { Environment } from "../io/io.ts";
import type { Colors } from "../render/colors.ts";
import { continuationPrompt, type PromptStyle, renderPrompt } from "../render/prompt.ts";
import type { FrontEnd } from "./front-end.ts";
import type { SessionKeeper } from "./session-keeper.ts";
import type { ShellState } from "./shell-state.ts";

export interface ShellPromptOptions {
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly keeper: SessionKeeper;
  readonly colors: Colors;
  readonly hasFailed: boolean;
  /** A quote is open. */
  readonly isContinued: boolean;
}

/** The prompt as things stand now. */
export function shellPrompt({ frontEnd, state, keeper, colors, hasFailed, isContinued }: ShellPromptOptions): string {
  const { io, execution } = frontEnd;
  const style: PromptStyle = { columns: io.stdout.columns, isUnicode: isUnicode(io.env), colors };
  if (isContinued) return continuationPrompt(style);
  const { server, trouble, session } = keeper;
  const isReadOnly = execution.isReadOnly || (session?.isReadOnly ?? false);
  const { cwd, heldLocks } = state;
  const locks = [...heldLocks.keys()];
  return renderPrompt({ server, isReadOnly, cwd, locks, hasFailed, ...(trouble !== undefined && { trouble }) }, style);
}

/** The locale says whether the terminal shows more than ASCII. */
function isUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: Environment): boolean {
  return TERM !== "dumb" && /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
}
