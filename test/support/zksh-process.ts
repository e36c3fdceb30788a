import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { spawnTracked, temporaryDirectory } from "./tracked-process.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");

export interface ZkshOptions {
  /**
   * Written to stdin, which then ends; left out: an empty stdin for {@link runZksh}, an open one
   * for {@link startZksh}.
   */
  readonly input?: string | Buffer;
  /** What stdin is instead of a pipe: `ignore` is /dev/null, a number a descriptor of ours. */
  readonly stdin?: "ignore" | number;
  /** A descriptor that stderr is written to instead of being kept. */
  readonly stderr?: number;
  /** Nobody reads stderr before {@link ZkshProcess.readStderr}. */
  readonly isStderrUnread?: boolean;
  /** Added to an environment that has nothing but PATH, a locale, and an empty HOME. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * After this the process and its children are killed, and the result is an error with what was
   * written.
   */
  readonly timeoutMs?: number;
  readonly cwd?: string;
  /** The file that node runs, when it is not bin/zksh.js. */
  readonly program?: string;
  /** A command that starts zksh in its own place, such as `nsenter --net=FILE`. */
  readonly through?: readonly string[];
  /** Told what is written to stderr, as soon as it arrives. */
  readonly onStderr?: (text: string) => void;
}

export interface ZkshResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly durationMs: number;
}

/** Runs the built program to its end. */
export function runZksh(args: readonly string[], options: ZkshOptions = {}): Promise<ZkshResult> {
  return startZksh(args, { ...options, input: options.input ?? "" }).result;
}

/** Starts the built program; it does not outlive this process. */
export function startZksh(args: readonly string[], options: ZkshOptions = {}): ZkshProcess {
  return new ZkshProcess(args, options);
}

/** The program while it runs. */
export class ZkshProcess {
  /** Settles when the process has ended and its output was read. */
  readonly result: Promise<ZkshResult>;
  readonly #child: ChildProcess;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];

  constructor(args: readonly string[], options: ZkshOptions) {
    const {
      input,
      stdin: inputFrom = "pipe",
      stderr: errorsTo = "pipe",
      env,
      cwd,
      through = [],
    } = options;
    const { timeoutMs = 60_000, program = PROGRAM } = options;
    const startedAt = performance.now();
    const [command = "", ...words] = [...through, process.execPath, program, ...args];
    // A process group of its own, so that a timeout also takes the commands it runs.
    this.#child = spawnTracked(command, words, {
      detached: true,
      stdio: [inputFrom, "pipe", errorsTo],
      env: { ...cleanEnvironment(), ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    const { stdin, stdout } = this.#child;
    stdout?.on("data", (chunk: Buffer) => this.#stdout.push(chunk));
    const { onStderr } = options;
    if (onStderr) this.#child.stderr?.on("data", (chunk: Buffer) => onStderr(chunk.toString()));
    if (!options.isStderrUnread) this.readStderr();
    // It may end without reading what it was given.
    stdin?.on("error", () => {});
    if (input !== undefined) stdin?.end(input);

    this.result = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const written = `stdout: ${this.stdout}\nstderr: ${this.stderr}`;
        reject(new Error(`zksh ${args.join(" ")} did not end within ${timeoutMs} ms\n${written}`));
        this.#killGroup();
      }, timeoutMs);
      this.#child.once("error", reject);
      this.#child.once("close", (code, signal) => {
        clearTimeout(timer);
        const durationMs = performance.now() - startedAt;
        resolve({
          code,
          signal,
          stdout: Buffer.concat(this.#stdout),
          stderr: this.stderr,
          durationMs,
        });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it has written so far. */
  get stdout(): string {
    return Buffer.concat(this.#stdout).toString();
  }

  /** What it has written so far. */
  get stderr(): string {
    return Buffer.concat(this.#stderr).toString();
  }

  readStderr(): void {
    this.#child.stderr?.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
  }

  write(text: string | Buffer): void {
    this.#child.stdin?.write(text);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Sends a signal to the process alone, not to its children. */
  kill(signal: NodeJS.Signals = "SIGTERM"): void {
    this.#child.kill(signal);
  }

  #killGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // Nobody is left in it: a process outside the group holds the output open.
    }
  }
}

let emptyHome: string | undefined;

function cleanEnvironment(): Record<string, string> {
  // A home of its own: the shell keeps a history there.
  emptyHome ??= temporaryDirectory("home");
  return { PATH: process.env.PATH ?? "", HOME: emptyHome, LANG: "C.UTF-8" };
}
