import type { Context } from "../../src/commands/command.ts";
import type { Shell } from "../../src/commands/context.ts";
import type { Session, WatchListener } from "../../src/session/session.ts";
import { openFresh } from "../support/fresh-session.ts";

/** What a command sees at the prompt, on a real server; `heard` keeps the watch events. */
export async function shellContext(): Promise<{
  readonly context: Context;
  readonly session: Session;
  readonly heard: readonly string[];
  readonly onWatch: WatchListener;
}> {
  const session = await openFresh();
  const heard: string[] = [];
  const onWatch: WatchListener = ({ type, path }) => heard.push(`${type} ${path}`);
  const { signal } = new AbortController();
  // Only what commands about watches look at.
  const shell = { printsWatches: true, cwd: "/" } as Shell;
  const context = {
    session: () => session,
    signal,
    output: { isForPeople: false, isFollowed: false, isZkcli: false, onWatch },
    shell,
  } as Partial<Context> as Context;
  return { context, session, heard, onWatch };
}
