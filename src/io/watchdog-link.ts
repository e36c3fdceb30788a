import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Environment } from "./io.ts";
import type { TreeIdentity } from "./process-tree.ts";

/** The watchdog, as zksh speaks to it. It is never waited for, and nothing depends on its answer. */
export interface WatchdogLink {
  /** What it is to end when we cannot. */
  guard(tree: TreeIdentity): void;
  /** Until when it may run, on the monotonic clock. */
  permit(stopAt: number, killAt: number): void;
  /** We have asked it to end ourselves. */
  stopping(): void;
  bye(): void;
}

export function startWatchdog(environment: Environment): WatchdogLink {
  const child = spawn(process.execPath, ["--max-old-space-size=16", "--v8-pool-size=0", watchdogFile()], {
    // A session of its own: no key and no signal to our group reaches it.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
    // What is meant for our node (a debugger, a profiler) is not meant for this one, and certificates are only time to it.
    env: { ...environment, NODE_OPTIONS: undefined, NODE_EXTRA_CA_CERTS: undefined },
  });
  // Without it the program still ends with its lock as long as we live.
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  const say = (line: string) => void (child.stdin.writable && child.stdin.write(`${line}\n`));
  return {
    guard: (tree) => say(`tree ${JSON.stringify(tree)}`),
    permit: (stopAt, killAt) => say(`permit ${stopAt} ${killAt}`),
    stopping: () => say("stopping"),
    bye() {
      say("bye");
      child.stdin.end();
    },
  };
}

/** Beside us in dist/; the sources are run only by tests, which have built it. */
function watchdogFile(): string {
  const where = import.meta.url.endsWith(".ts") ? "../../dist/watchdog.js" : "./watchdog.js";
  return fileURLToPath(new URL(where, import.meta.url));
}
