import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";

/** True when keys such as Ctrl-C can reach us. */
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
 * Notes the modes of the terminal on stdin; the function returned sets them again. Does nothing
 * without a terminal.
 */
export async function saveTerminalModes(): Promise<() => Promise<void>> {
  if (!isatty(0)) return async () => {};
  const saved = (await stty("-g")).trim();
  return async () => {
    if (saved !== "") await stty(saved);
  };
}

/** What stty says; nothing when it fails. */
function stty(argument: string): Promise<string> {
  return new Promise((resolve) => {
    // A program that was killed may have left the terminal to its own group: setting modes from the
    // background would stop us, unless that signal is ignored.
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
