import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { UsageError } from "../errors.ts";
import type { ChildEnd, ChildRequest, Environment } from "./child-requests.ts";
import { hasInEnvironment, type ProcessRow, processTable } from "./process-table.ts";

/** The time between SIGTERM and SIGKILL. */
export const GRACE_MS = 2_000;
/**
 * The table is read again to find processes that were forked during the last reading. The limit is
 * for a program that forks all the time.
 */
const MAX_LOOKS = 20;
/** In the environment of the program and of all that it starts: tells them from reused pids. */
export const MARK = "ZKSH_RUN";

/**
 * Runs a program with our stdout and stderr to its end. When the signal is aborted the program and
 * all it has started are stopped, and the signal's reason is thrown. Throws UsageError when it
 * cannot be started.
 */
export async function runChild(
  { argv, env, input, signal, stdout }: ChildRequest,
  environment: Environment,
  graceMs = GRACE_MS,
): Promise<ChildEnd> {
  signal.throwIfAborted();
  const [file, ...args] = argv;
  const mark = randomUUID();
  // A session and a process group of its own: what the program starts is stopped with it.
  const child = spawn(file, args, {
    detached: true,
    stdio: ["pipe", stdout ?? "inherit", "inherit"],
    env: { ...environment, ...env, [MARK]: mark },
  });
  /** Members of the program's session, seen while the program itself ran and its pid was its own. */
  const known = new Map<number, string>();
  // EPIPE: the program need not read its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  let grace: NodeJS.Timeout | undefined;
  const stop = () => {
    if (child.pid === undefined) return;
    for (const { pid, start } of processTable().filter(inSession(child.pid))) known.set(pid, start);
    killGroup(child, "SIGTERM");
    grace = setTimeout(() => killGroup(child, "SIGKILL"), graceMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const end = await ended(child, file);
    signal.throwIfAborted();
    return end;
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(grace);
    if (signal.aborted && child.pid !== undefined)
      killLeftBehind(child.pid, { known, mark: `${MARK}=${mark}` });
  }
}

/** What tells the processes of a program that has ended from processes with reused pids. */
export interface Proof {
  /** Pid → start time of the processes seen while the program ran. */
  readonly known: ReadonlyMap<number, string>;
  /** `NAME=value` in the environment of the processes that it has started. */
  readonly mark: string;
}

/**
 * Kills the processes that the program that led the session `session` has left behind. Its pid may
 * be the pid and the session of another program by now, so only processes with {@link Proof} are
 * killed.
 */
export function killLeftBehind(
  session: number,
  { known, mark }: Proof,
  signal: NodeJS.Signals = "SIGKILL",
): void {
  const killed = new Set<number>();
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const found = processTable()
      .filter(inSession(session))
      .filter(({ pid, start }) => known.get(pid) === start || hasInEnvironment(pid, mark))
      .filter(({ pid }) => !killed.has(pid));
    if (found.length === 0) return;
    for (const { pid } of found) {
      killed.add(pid);
      kill(pid, signal);
    }
  }
}

function inSession(session: number): (row: ProcessRow) => boolean {
  return (row) => row.session === session && row.state !== "zombie";
}

function ended(child: ChildProcess, file: string): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      const reasons: Record<string, string> = {
        ENOENT: "no such program",
        EACCES: "not executable",
      };
      const why = reasons["code" in cause ? String(cause.code) : ""] ?? cause.message;
      reject(new UsageError(`cannot run ${file}: ${why}`, { reason: "cannot-run", cause }));
    });
    child.once("exit", (code, killedBy) =>
      resolve(code === null ? { killedBy: killedBy ?? "" } : { code }),
    );
  });
}

/** Only before the program has been waited for: until then its pid and group cannot be reused. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null && signalCode === null) kill(-pid, signal);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
