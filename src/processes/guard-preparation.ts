import { execFile } from "node:child_process";
import type { Environment, GuardPreparation, PrepareOptions } from "./child-requests.ts";
import { saveTerminalModes } from "./terminal-modes.ts";
import { WatchdogLink } from "./watchdog-link.ts";

/** The slow part of starting a guarded program, done while zksh connects and queues. */
export class Preparation implements GuardPreparation {
  readonly watchdog: WatchdogLink;
  /** True when setpriv(1) can make the kernel signal the command when zksh dies. */
  readonly hasSetpriv: Promise<boolean>;
  readonly #terminal: Promise<() => Promise<void>> | undefined;

  constructor(environment: Environment, { savesTerminal }: PrepareOptions) {
    this.watchdog = new WatchdogLink(environment);
    this.hasSetpriv = findSetpriv(environment);
    this.#terminal = savesTerminal ? saveTerminalModes() : undefined;
  }

  /** Resolves with the function that restores the terminal's modes. */
  terminal(): Promise<() => Promise<void>> {
    return this.#terminal ?? saveTerminalModes();
  }

  dispose(): void {
    this.watchdog.bye();
  }
}

/** Throws LockError when the watchdog cannot be started, so that zksh does not queue in vain. */
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
  // Older versions, and busybox, do not know the option.
  return new Promise((resolve) => {
    execFile(file, [...args, "true"], { env: { ...environment } }, (error) => resolve(!error));
  });
}
