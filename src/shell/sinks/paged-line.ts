/** Runs a line whose results go to a pager when they are longer than the screen. */
import { pagerSetting } from "../../config/pager-setting.ts";
import { InterruptedError } from "../../errors.ts";
import { ExitCode } from "../../exit-codes.ts";
import { ioWith, isBrokenPipe } from "../../io/io.ts";
import type { ShellChild } from "../../processes/child-requests.ts";
import type { FrontEnd } from "../front-end.ts";
import { PagedScreen } from "./paged-screen.ts";
import { pagerEnvironment } from "./pager.ts";

/**
 * Calls `run` with a front end for the screen, and tells it whether the pager has the screen. Waits
 * for the end of the pager. A user who leaves the pager has seen enough: the line ends then, without
 * an error. Ctrl-C ends the line with one; the pager shows what it has.
 */
export async function runPaged(
  frontEnd: FrontEnd,
  run: (frontEnd: FrontEnd, isOnScreen: () => boolean) => Promise<number>,
): Promise<number> {
  const { io, signal } = frontEnd;
  const stop = new AbortController();
  let isQuit = false;
  const screen = new PagedScreen({
    io,
    start: () => startPager(frontEnd, () => stop.abort(new InterruptedError())),
    onQuit() {
      isQuit = true;
      stop.abort(new InterruptedError());
    },
  });
  const { stdout, stderr } = screen;
  const stopPager = () => screen.stop();
  signal.addEventListener("abort", stopPager, { once: true });
  try {
    const either = AbortSignal.any([signal, stop.signal]);
    return await run(frontEnd.into(ioWith(io, { stdout, stderr }), either), () => !screen.isPaging);
  } catch (error) {
    if ((isQuit || isBrokenPipe(error)) && !signal.aborted) return ExitCode.ok;
    throw error;
  } finally {
    await screen.finish();
    signal.removeEventListener("abort", stopPager);
  }
}

/** Undefined without a pager, or with one that is not installed. */
async function startPager(
  { io, settings }: FrontEnd,
  onInterrupt: () => void,
): Promise<ShellChild | undefined> {
  const { value: command } = pagerSetting(io.env, settings.habits);
  if (command === false) return undefined;
  const [program = ""] = command.split(/\s/, 1);
  const isPlainName = /^[\w./+-]+$/.test(program);
  if (isPlainName && (await io.processes.find(program)).kind !== "found") return undefined;
  return io.processes.startShell({ command, env: pagerEnvironment(io.env), onInterrupt });
}
