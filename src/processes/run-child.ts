import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { UsageError } from "../errors.ts";
import type { ChildEnd, ChildRequest, Environment } from "./child-requests.ts";
import { hasInEnvironment, type ProcessRow, processTable } from "./process-table.ts";

/** What a program gets to end by itself after SIGTERM. */
const GRACE_MS = 2_000;
/**
 * What is forked during one look is found in the next; a program that does nothing but fork must
 * not keep us for ever.
 */
const MAX_LOOKS = 20;
/**
 * In the environment of the program and of all that it starts: tells them from processes that have
 * got their numbers.
 */
const MARK = "ZKSH_RUN";

/**
 * Runs a program with our stdout and stderr to its end. When the signal is aborted the program and
 * all it has started are stopped, and the signal's reason is thrown. Throws UsageError when it
 * cannot be started.
 */
export async function runChild(
  { argv, env, input, signal }: ChildRequest,
  environment: Environment,
  graceMs = GRACE_MS,
): Promise<ChildEnd> {
  signal.throwIfAborted();
  const [file, ...args] = argv;
  const mark = randomUUID();
  // A session and a process group of its own: what the program starts is stopped with it.
  const child = spawn(file, args, {
    detached: true,
    stdio: ["pipe", "inherit", "inherit"],
    env: { ...environment, ...env, [MARK]: mark },
  });
  /**
   * Seen in the program's session while the program itself was there: its number could not be
   * another's.
   */
  const known = new Map<number, string>();
  // It need not read what it is given.
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

/** How the processes of a program that has ended are told from others. */
export interface Proof {
  /** Number → start of those that were there while the program ran. */
  readonly known: ReadonlyMap<number, string>;
  /** `NAME=value` in the environment of those that it has started. */
  readonly mark: string;
}

/**
 * Kills what a program that led the session `session` has left behind. The program has ended, so
 * that its number may belong to another process and another session already: a process without
 * proof is left alone.
 */
export function killLeftBehind(session: number, { known, mark }: Proof): void {
  const killed = new Set<number>();
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const found = processTable()
      .filter(inSession(session))
      .filter(({ pid, start }) => known.get(pid) === start || hasInEnvironment(pid, mark))
      .filter(({ pid }) => !killed.has(pid));
    if (found.length === 0) return;
    for (const { pid } of found) {
      killed.add(pid);
      kill(pid, "SIGKILL");
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

/**
 * Only while the program has not been waited for: its number, and that of its group, cannot be
 * another's until then.
 */
function killGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null && signalCode === null) kill(-pid, signal);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
