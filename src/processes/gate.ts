/**
 * A command is started at a gate: a shell that reads a line from a pipe and then becomes the
 * command (exec), in the same process. So the watchdog can be armed with the command's process
 * before the command runs; when zksh dies first, the pipe closes and the command never runs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import type { Writable } from "node:stream";
import { LockError } from "../errors.ts";
import type { Environment } from "./child-requests.ts";
import { startFailure } from "./start-failure.ts";

/** POSIX does not name these paths, but all supported systems have them. */
const SHELL = "/bin/sh";
const ENV = "/usr/bin/env";

/** The descriptor of the pipe. stdin belongs to the command. */
const GATE_FD = 3;
const PREFIX = "ZKSH_GATE_";

/** Shells add these where they are missing. */
const ADDED_BY_SHELLS: readonly string[] = ["PWD", "OLDPWD", "SHLVL", "_"];
/**
 * Variables that some shell changes, drops or obeys (tracing, warnings about locales). Dash, bash,
 * busybox and ksh pass all others on if their names are valid in the shell language.
 */
const SPECIAL_TO_SHELLS =
  /^(BASH.*|COLUMNS|DIRSTACK|ENV|EPOCH.*|EUID|FCEDIT|FPATH|FUNCNAME|GROUPS|HIST.*|IFS|KSH.*|LANG|LANGUAGE|LC_.*|LINENO|LINES|MAIL.*|OPT(ARG|IND|ERR)|PIPESTATUS|POSIXLY_CORRECT|PPID|PS\d|RANDOM|SECONDS|SHELLOPTS|SRANDOM|TIMEFORMAT|TMOUT|UID|VISUAL|ZSH.*)$/;

export interface GateOptions {
  readonly argv: readonly [string, ...string[]];
  /** The exact environment of the command. */
  readonly environment: Environment;
  /** A command that starts the gate, such as setpriv with its options. */
  readonly prefix: readonly string[];
  /** True: a session and a process group of its own. */
  readonly isDetached: boolean;
  /** Its stdout: a pipe of zksh. Left out: our stdout. */
  readonly stdout?: Writable | undefined;
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
    // EPIPE after the shell was killed; the exit event tells about that.
    pipe.on("error", () => {});
  }

  /** Throws LockError when the system cannot start the shell. */
  static async start({ argv, environment, prefix, ...how }: GateOptions): Promise<Gate> {
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
        detached: how.isDetached,
        stdio: ["inherit", how.stdout ?? "inherit", "inherit", "pipe"],
        env,
      });
      // Node throws some failures and emits others.
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
    // A stopped shell would not see the end of the pipe.
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
 * The script of the gate and its environment. A shell changes some environment variables, so those
 * are carried under names of the gate's own and restored by env(1). They are never carried as
 * arguments, which all users of the machine can see.
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
    !SPECIAL_TO_SHELLS.test(name) &&
    !ADDED_BY_SHELLS.includes(name) &&
    !name.startsWith(PREFIX)
  );
}

/** env(1) takes a command with an equals sign in its name for a variable. */
function launcher(name: string): readonly string[] {
  return name.includes("=") ? ["nice", "-n", "0", "--"] : [];
}
