import { continuationPrompt, elide, type PromptStyle, renderPrompt } from "../../render/prompt.ts";
import { isUnicode } from "../../render/renderer.ts";
import type { Theme } from "../../render/theme.ts";
import type { FrontEnd } from "../front-end.ts";
import type { ShellState } from "../shell-state.ts";
import type { SessionKeeper } from "./session-keeper.ts";

export interface ShellPromptOptions {
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly keeper: SessionKeeper;
  readonly theme: Theme;
  readonly hasFailed: boolean;
  /** A quote is open. */
  readonly isContinued: boolean;
}

/** The prompt as things stand now. */
export function shellPrompt({
  frontEnd,
  state,
  keeper,
  theme,
  hasFailed,
  isContinued,
}: ShellPromptOptions): string {
  const { io } = frontEnd;
  const style: PromptStyle = { columns: io.stdout.columns, isUnicode: isUnicode(io.env), theme };
  if (isContinued) return continuationPrompt(style);
  const { trouble, session } = keeper;
  const server = withShortChroot(keeper.server, style);
  const { profile, writes } = frontEnd.settingsAt(state.target);
  const isReadOnly = writes.readOnly !== undefined || (session?.isReadOnly ?? false);
  const label = profile && { text: profile.label ?? `@${profile.name}`, colour: profile.colour };
  const { cwd, heldLocks } = state;
  const locks = Array.from(heldLocks, ([path, { mode }]) => ({ path, mode }));
  return renderPrompt(
    {
      server,
      isReadOnly,
      cwd,
      locks,
      hasFailed,
      ...(label && { label }),
      ...(trouble !== undefined && { trouble }),
    },
    style,
  );
}

/** A long chroot must leave room for what is typed. */
function withShortChroot(server: string, { columns, isUnicode: hasDots }: PromptStyle): string {
  const slash = server.indexOf("/");
  if (slash < 0) return server;
  const room = Math.max(8, Math.floor(columns / 5));
  return server.slice(0, slash) + elide(server.slice(slash), room, hasDots ? "…" : "...");
}
