import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { ChildEnd, Environment, ShellChild, ShellRequest } from "./child-requests.ts";
import { findProcess } from "./process-table.ts";
import { GRACE_MS, killLeftBehind, MARK } from "./run-child.ts";
import { takeSignals } from "./signals.ts";
import { startFailure } from "./start-failure.ts";
import { saveTerminalModes } from "./terminal-modes.ts";

/**
 * Starts `sh -c COMMAND` with a pipe as its stdin, and our stdout and stderr. It stays in our
 * process group: programs like less read keys from the terminal, and Ctrl-C reaches them. Where
 * zksh goes on after Ctrl-C, the terminal gets its modes back: a pager that is killed leaves it raw.
 * Throws LockError when it cannot be started.
 */
export async function startShell(
  { command, env, onOutput, onInterrupt, beforeStart }: ShellRequest,
  environment: Environment,
): Promise<ShellChild> {
  const mark = randomUUID();
  beforeStart?.();
  // A script may run in the background, where the terminal belongs to another program.
  const restoreTerminal = onInterrupt ? await saveTerminalModes() : async () => {};
  const stopTaking = onInterrupt ? takeSignals(["SIGINT"], onInterrupt) : () => {};
  // The signal of the key that has ended the command may still be on its way to us.
  const giveBack = () => setImmediate(stopTaking);
  const child = spawn("sh", ["-c", command], {
    stdio: ["pipe", onOutput ? "pipe" : "inherit", "inherit"],
    env: { ...environment, ...env, [MARK]: mark },
  });
  const { stdin, stdout } = child;
  // Writers get the error themselves.
  stdin?.on("error", () => {});
  if (child.pid === undefined || !stdin) {
    giveBack();
    throw startFailure("sh", (await once(child, "error"))[0]);
  }
  if (onOutput) stdout?.on("data", onOutput);
  const session = findProcess(process.pid)?.session;
  const signalAll = (signal: NodeJS.Signals) => {
    child.kill(signal);
    const proof = { known: new Map<number, string>(), mark: `${MARK}=${mark}` };
    if (session !== undefined) killLeftBehind(session, proof, signal);
  };
  let grace: NodeJS.Timeout | undefined;
  const ended = new Promise<ChildEnd>((resolve) => {
    // With a stdout of ours, all of it has been read at `close`.
    child.once(onOutput ? "close" : "exit", (code, killedBy) => {
      clearTimeout(grace);
      giveBack();
      // What it has started may outlive it.
      if (grace !== undefined) signalAll("SIGKILL");
      resolve(endOf(code, killedBy));
    });
  });
  return {
    stdin,
    ended: ended.finally(restoreTerminal),
    stop() {
      if (grace !== undefined) return;
      grace = setTimeout(() => signalAll("SIGKILL"), GRACE_MS);
      signalAll("SIGTERM");
    },
  };
}

function endOf(code: number | null, killedBy: NodeJS.Signals | null): ChildEnd {
  return code === null ? { killedBy: killedBy ?? "" } : { code };
}
