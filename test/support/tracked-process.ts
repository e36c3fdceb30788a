import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";

// A test worker may be ended by a signal that leaves it no time to tidy up. So a small shell keeps
// the list of what is to go, and acts when its input ends, which happens however the worker dies.
const REAPER = `
trap '' INT TERM HUP
set -f
IFS='
'
live=
while read -r line; do
  entry=\${line#?}
  case $line in
    +*) live="$live
$entry" ;;
    *) kept=
      for one in $live; do
        [ "$one" = "$entry" ] || kept="$kept
$one"
      done
      live=$kept ;;
  esac
done
for one in $live; do case $one in /*) ;; *) kill -9 "$one" ;; esac; done
for one in $live; do case $one in /*) rm -rf "$one" ;; esac; done
`;

/** How often, and after which pause, a directory is emptied that fills up again. */
const REMOVAL_ATTEMPTS = 100;
const REMOVAL_PAUSE_MS = 20;

let reaper: Writable | undefined;

function tellReaper(sign: "+" | "-", entry: string): void {
  if (reaper === undefined) {
    // Its own process group, or Ctrl-C on a terminal would end it together with those it watches.
    const child = spawn("/bin/sh", ["-c", REAPER], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.unref();
    reaper = child.stdin;
    (child.stdin as unknown as { unref(): void }).unref();
  }
  reaper.write(`${sign}${entry}\n`);
}

/**
 * Spawns a process that does not outlive this one. With `detached`, its whole process group goes
 * with it.
 */
export function spawnTracked(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const child = spawn(command, args, options);
  const { pid } = child;
  if (pid === undefined) return child;
  const entry = options.detached ? `-${pid}` : `${pid}`;
  tellReaper("+", entry);
  child.once("exit", () => tellReaper("-", entry));
  return child;
}

/** Settles when the process has ended, also when that was long ago. */
export function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** An empty directory that does not outlive this process. */
export function temporaryDirectory(name: string): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), `zksh-${name}-`));
  tellReaper("+", path);
  return path;
}

/**
 * Removes what {@link temporaryDirectory} made, also when a program that is just ending still
 * writes there.
 */
export function removeDirectory(path: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      // Its own retries only try the last step again; what was written there meanwhile would stay.
      rmSync(path, { recursive: true, force: true });
      break;
    } catch (error) {
      if (attempt === REMOVAL_ATTEMPTS || (error as NodeJS.ErrnoException).code !== "ENOTEMPTY")
        throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVAL_PAUSE_MS);
    }
  }
  tellReaper("-", path);
}
