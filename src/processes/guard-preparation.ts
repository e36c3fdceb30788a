import { execFile } from "node:child_process";
import type { Environment, GuardPreparation, PrepareOptions } from "./child-requests.ts";
import { saveTerminalModes } from "./terminal-modes.ts";
import { WatchdogLink } from "./watchdog-link.ts";

/** What takes time and does not need the lock: done while zksh connects and queues. */
export class Preparation implements GuardPreparation {
  readonly watchdog: WatchdogLink;
  /** The system has a setpriv that makes the kernel signal the command when zksh dies. */
  readonly hasSetpriv: Promise<boolean>;
  readonly #terminal: Promise<() => Promise<void>> | undefined;

  constructor(environment: Environment, { savesTerminal }: PrepareOptions) {
    this.watchdog = new WatchdogLink(environment);
    this.hasSetpriv = findSetpriv(environment);
    this.#terminal = savesTerminal ? saveTerminalModes() : undefined;
  }

  /** Sets the terminal's modes as they were before the command. */
  terminal(): Promise<() => Promise<void>> {
    return this.#terminal ?? saveTerminalModes();
  }

  dispose(): void {
    this.watchdog.bye();
  }
}

/**
 * Throws LockError when the watchdog cannot be started: better now than after an hour in the queue.
 */
export async function prepareGuard(
  environment: Environment,
  options: PrepareOptions,
): Promise<Preparation> {
  const preparation = new Preparation(environment, options);
  await preparation.watchdog.started;
  return preparation;
}

export function setprivWords(signal: "SIGTERM" | "SIGKILL"): string[] {
  return ["setpriv", "--pdeathsig", signal.replace("SIG", ""), "--"];
}

function findSetpriv(environment: Environment): Promise<boolean> {
  if (process.platform !== "linux") return Promise.resolve(false);
  const [file = "", ...args] = setprivWords("SIGTERM");
  // Older ones, and busybox's, do not know the option.
  return new Promise((resolve) => {
    execFile(file, [...args, "true"], { env: { ...environment } }, (error) => resolve(!error));
  });
}
