import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";

/** True when keys such as Ctrl-C can reach zksh. */
export function hasControllingTerminal(): boolean {
  return isatty(0) || isatty(1) || opens("/dev/tty");
}

function opens(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"));
    return true;
  } catch {
    return false;
  }
}

/**
 * Saves the modes of the terminal on stdin; the returned function restores them. Does nothing
 * without a terminal.
 */
export async function saveTerminalModes(): Promise<() => Promise<void>> {
  if (!isatty(0)) return async () => {};
  const saved = (await stty("-g")).trim();
  return async () => {
    if (saved !== "") await stty(saved);
  };
}

/** The output of stty; empty when it fails. */
function stty(argument: string): Promise<string> {
  return new Promise((resolve) => {
    // A program that was killed may have left the terminal to its own group. Setting modes from the
    // background sends SIGTTOU, which would stop stty unless it is ignored.
    const child = spawn("sh", ["-c", 'trap "" TTOU; exec stty "$1"', "sh", argument], {
      stdio: ["inherit", "pipe", "ignore"],
    });
    let text = "";
    // Without file descriptors there is no pipe either.
    (child.stdout as Readable | undefined)?.on("data", (chunk) => {
      text += chunk;
    });
    child.once("error", () => resolve(""));
    child.once("close", () => resolve(text));
  });
}
