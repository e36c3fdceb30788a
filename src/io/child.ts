import { type ChildProcess, spawn } from "node:child_process";
import type { ChildEnd, ChildRequest } from "../child.ts";
import { UsageError } from "../errors.ts";
import type { Environment } from "./io.ts";

/** What a program gets to end by itself after SIGTERM. */
const GRACE_MS = 2_000;

/**
 * Runs a program with our stdout and stderr to its end. When the signal is aborted the program and all it has started
 * are stopped, and the signal's reason is thrown. Throws UsageError when it cannot be started.
 */
export async function runChild(
  { argv, env, input, signal }: ChildRequest,
  environment: Environment,
  graceMs = GRACE_MS,
): Promise<ChildEnd> {
  signal.throwIfAborted();
  const [file, ...args] = argv;
  // A process group of its own: what the program starts is stopped with it.
  const child = spawn(file, args, {
    detached: true,
    stdio: ["pipe", "inherit", "inherit"],
    env: { ...environment, ...env },
  });
  // It need not read what it is given.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  let grace: NodeJS.Timeout | undefined;
  const stop = () => {
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
    // Those it left behind, when it was told to stop.
    if (signal.aborted) killGroup(child, "SIGKILL");
  }
}

function ended(child: ChildProcess, file: string): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      const reasons: Record<string, string> = { ENOENT: "no such program", EACCES: "not executable" };
      const why = reasons["code" in cause ? String(cause.code) : ""] ?? cause.message;
      reject(new UsageError(`cannot run ${file}: ${why}`, { reason: "cannot-run", cause }));
    });
    child.once("exit", (code, killedBy) => resolve(code === null ? { killedBy: killedBy ?? "" } : { code }));
  });
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
