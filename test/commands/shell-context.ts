import type { Context } from "../../src/commands/command.ts";
import type { Shell } from "../../src/commands/context.ts";
import { createRenderer, type OutputFormat } from "../../src/render/renderer.ts";
import { plainTheme } from "../../src/render/theme.ts";
import type { Result } from "../../src/results/result.ts";
import type { Session, WatchListener } from "../../src/session/session.ts";
import { openFresh } from "../support/open-session.ts";

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
  const shell = { printsWatches: true } as Shell;
  const context = {
    session: () => session,
    signal,
    cwd: "/",
    onWatch,
    shell,
  } as Partial<Context> as Context;
  return { context, session, heard, onWatch };
}

/** What a result says on stdout, in every form. */
export async function renderAll(
  result: Result,
): Promise<Record<"terminal" | "pipe" | "json" | "zkcli", string>> {
  const render = async (format: OutputFormat, isTTY: boolean) => {
    const view = { isTTY, columns: 80, theme: plainTheme, isQuiet: false, now: Date.now };
    return String((await createRenderer(format, view)).result(result).out ?? "");
  };
  return {
    terminal: await render("text", true),
    pipe: await render("text", false),
    json: await render("json", false),
    zkcli: await render("zkcli", false),
  };
}
