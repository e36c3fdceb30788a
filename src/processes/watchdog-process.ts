import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Environment } from "./child-requests.ts";

/**
 * Without a debugger: SIGUSR1 opens one before the watchdog's own listener is there. The heap is
 * small, but holds a table of 300,000 processes.
 * Without threads of the JIT compiler, because Node's exit can wait for ever for one that waits for
 * the main thread (nodejs/node#54918, seen on Node 24).
 */
const FLAGS: readonly string[] = [
  "--max-old-space-size=256",
  "--v8-pool-size=0",
  "--single-threaded",
  withoutDebugger(process.versions.node),
];

export interface WatchdogListener {
  /** The system has started it. */
  onSpawn(): void;
  /** It listens, and no signal that can be caught ends it any more. */
  onReady(): void;
  /** It has done what was said with this number. */
  onDone(id: number): void;
  /** It has ended, or could not be started; called once. */
  onEnd(why: Error): void;
}

/** One watchdog process, seen from zksh. It does not keep the event loop of zksh alive. */
export class WatchdogProcess {
  readonly #listener: WatchdogListener;
  readonly #child: ChildProcess | undefined;
  #unread = "";
  #hasEnded = false;

  constructor(environment: Environment, listener: WatchdogListener) {
    this.#listener = listener;
    try {
      this.#child = this.#spawn(environment);
    } catch (error) {
      this.#end(error);
    }
  }

  say(line: string): void {
    const stdin = this.#child?.stdin;
    if (stdin?.writable) stdin.write(`${line}\n`);
  }

  /** Lets it end by itself; the listener is not called any more. */
  bye(): void {
    this.#hasEnded = true;
    this.say("bye");
    this.#child?.stdin?.end();
    // It may have been stopped (SIGSTOP), and would stay for ever.
    this.#child?.kill("SIGCONT");
    this.#child?.stdout?.destroy();
  }

  /** Kills it and reports `why` as the reason of its end. */
  kill(why: Error): void {
    this.#child?.kill("SIGKILL");
    this.#end(why);
  }

  #spawn(environment: Environment): ChildProcess {
    const child = spawn(process.execPath, [...FLAGS, watchdogFile()], {
      // A session of its own: no key and no signal to our group reaches it.
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
      cwd: "/",
      // NODE_OPTIONS of zksh (a debugger, a profiler) must not apply to the watchdog, which makes no
      // TLS connections either.
      env: { ...environment, NODE_OPTIONS: undefined, NODE_EXTRA_CA_CERTS: undefined },
    });
    child.once("spawn", () => this.#listener.onSpawn());
    child.on("error", (error) => this.#end(error));
    child.once("exit", (code, signal) =>
      this.#end(new Error(`it ended with ${signal ?? `code ${code}`}`)),
    );
    child.unref();
    // Without file descriptors there are no pipes either.
    for (const pipe of [child.stdin, child.stdout]) {
      pipe?.on("error", () => {});
      (pipe as unknown as { unref(): void } | null)?.unref?.();
    }
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => this.#hear(chunk));
    return child;
  }

  #hear(chunk: string): void {
    const lines = (this.#unread + chunk).split("\n");
    this.#unread = lines.pop() ?? "";
    for (const line of lines) {
      if (this.#hasEnded) return;
      const [word, id] = line.split(" ");
      if (word === "ready") this.#listener.onReady();
      else if (word === "done") this.#listener.onDone(Number(id));
    }
  }

  #end(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const why = error instanceof Error ? error : new Error(String(error));
    // Asynchronously, because the constructor may have called this.
    queueMicrotask(() => this.#listener.onEnd(why));
  }
}

/**
 * Node 22.14 and 23.7 can be told to leave SIGUSR1 alone. An older one gets an address for its
 * debugger that no machine has (RFC 5737), so that opening it fails.
 */
function withoutDebugger(version: string): string {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isKnown = major > 23 || (major === 23 && minor >= 7) || (major === 22 && minor >= 14);
  return isKnown ? "--disable-sigusr1" : "--inspect-port=192.0.2.1:9229";
}

/** In dist/, beside the bundle; only tests run the sources, after a build. */
function watchdogFile(): string {
  const where = import.meta.url.endsWith(".ts") ? "../../dist/watchdog.cjs" : "./watchdog.cjs";
  return fileURLToPath(new URL(where, import.meta.url));
}
