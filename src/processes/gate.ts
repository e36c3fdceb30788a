/**
 * A command is started at a gate: a shell that waits for a line on a pipe and then becomes the
 * command, in the same process. So there is a process to guard before anything of the command has
 * run; and when zksh dies first, the pipe closes and nothing runs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import type { Writable } from "node:stream";
import { LockError } from "../errors.ts";
import type { Environment } from "./child-requests.ts";
import { startFailure } from "./start-failure.ts";

/** POSIX has no path for them, but every system does. */
const SHELL = "/bin/sh";
const ENV = "/usr/bin/env";

/** Where the pipe is; not stdin, which is the command's. */
const GATE_FD = 3;
const PREFIX = "ZKSH_GATE_";

/** Shells add these where they are missing. */
const ADDED_BY_SHELLS = ["PWD", "OLDPWD", "SHLVL", "_"];
/**
 * Names that mean something to some shell: it changes them, leaves them out, or does as they say
 * (tracing, warnings about locales). Dash, bash, busybox and ksh leave the rest alone, as long as
 * it is a name by their own rules.
 */
const MEANS_SOMETHING =
  /^(BASH.*|COLUMNS|DIRSTACK|ENV|EPOCH.*|EUID|FCEDIT|FPATH|FUNCNAME|GROUPS|HIST.*|IFS|KSH.*|LANG|LANGUAGE|LC_.*|LINENO|LINES|MAIL.*|OPT(ARG|IND|ERR)|PIPESTATUS|POSIXLY_CORRECT|PPID|PS\d|RANDOM|SECONDS|SHELLOPTS|SRANDOM|TIMEFORMAT|TMOUT|UID|VISUAL|ZSH.*)$/;

export interface GateOptions {
  readonly argv: readonly [string, ...string[]];
  /** The command's, exactly. */
  readonly environment: Environment;
  /** Words before those of the gate, such as setpriv's. */
  readonly prefix: readonly string[];
  /** A session and group of its own. */
  readonly isDetached: boolean;
}

/** A command that has not begun yet. */
export class Gate {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly #pipe: Writable;

  private constructor(child: ChildProcess, pid: number, pipe: Writable) {
    this.child = child;
    this.pid = pid;
    this.#pipe = pipe;
    // The shell may have been killed, which its end tells.
    pipe.on("error", () => {});
  }

  /** Throws LockError when the system cannot start it. */
  static async start({ argv, environment, prefix, isDetached }: GateOptions): Promise<Gate> {
    refuseWithout(SHELL, argv[0]);
    refuseWithout(ENV, argv[0]);
    const { script, env } = gateScript(environment);
    const [file = "", ...args] = [
      ...prefix,
      SHELL,
      "-c",
      script,
      "zksh-gate",
      ...launcher(argv[0]),
      ...argv,
    ];
    try {
      const child = spawn(file, args, {
        detached: isDetached,
        stdio: ["inherit", "inherit", "inherit", "pipe"],
        env,
      });
      // Some failures are thrown, others are told.
      if (child.pid === undefined) throw (await once(child, "error"))[0];
      return new Gate(child, child.pid, child.stdio[GATE_FD] as Writable);
    } catch (cause) {
      throw startFailure(argv[0], cause);
    }
  }

  /** Lets the command begin. */
  open(): void {
    this.#pipe.end("\n");
  }

  /** The command never begins. Resolves when the process has ended. */
  async close(): Promise<void> {
    const { child } = this;
    const ended = child.exitCode === null && child.signalCode === null && once(child, "exit");
    this.#pipe.destroy();
    // It may have been stopped, and would not see the pipe's end.
    child.kill("SIGKILL");
    await ended;
  }
}

function refuseWithout(tool: string, command: string): void {
  try {
    accessSync(tool, constants.X_OK);
  } catch (cause) {
    throw new LockError(
      "command-not-executable",
      `cannot start ${command}: ${tool} is missing or not executable`,
      {
        hint: `zksh starts commands through ${SHELL} and ${ENV}`,
        cause,
      },
    );
  }
}

/**
 * What the gate runs, and in which environment. A shell does not hand on an environment as it was,
 * so what it would change is hidden from it in variables of the gate's own (never in words, which
 * all users can see) and put back by env(1).
 */
function gateScript(environment: Environment): {
  readonly script: string;
  readonly env: Record<string, string>;
} {
  const env: Record<string, string> = {};
  const hidden: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    if (isSafe(name)) env[name] = value;
    else hidden.push(`${name}=${value}`);
  }
  const carriers = hidden.map((_, index) => `${PREFIX}${index}`);
  for (const [index, carrier] of carriers.entries()) env[carrier] = hidden[index] ?? "";
  const unset = [...ADDED_BY_SHELLS, ...carriers].flatMap((name) => ["-u", name]);
  const restored = carriers.map((name) => `"$${name}"`);
  const words = [ENV, ...unset, "--", ...restored, '"$@"'].join(" ");
  return { script: `read -r zksh_go <&${GATE_FD} && exec ${words} ${GATE_FD}<&-`, env };
}

function isSafe(name: string): boolean {
  const isName = /^[A-Za-z_]\w*$/.test(name);
  return (
    isName &&
    !MEANS_SOMETHING.test(name) &&
    !ADDED_BY_SHELLS.includes(name) &&
    !name.startsWith(PREFIX)
  );
}

/** env(1) takes a command with an equals sign in its name for a variable. */
function launcher(name: string): readonly string[] {
  return name.includes("=") ? ["nice", "-n", "0", "--"] : [];
}
