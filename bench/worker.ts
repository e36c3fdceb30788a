import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { peerClassPath } from "../test/support/java.ts";
import { ended, spawnTracked } from "../test/support/tracked-process.ts";

const PEERS = join(import.meta.dirname, "peers");
// Debian's: another python3 may come first on PATH, and would not have kazoo.
export const PYTHON = "/usr/bin/python3";

/**
 * A program in bench/peers/ that lives as long as a measurement, so that it is warm, and works when
 * it is told to: a line in, a line of JSON out.
 */
export class Worker {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  /** `file` is JavaScript, Java source or Python. */
  constructor(file: string, args: readonly string[] = []) {
    const [command = "", ...words] = [...interpreter(file), join(PEERS, file), ...args];
    this.#child = spawnTracked(command, words, { stdio: ["pipe", "pipe", "inherit"] });
    const { stdin, stdout } = this.#child;
    if (!stdin || !stdout) throw new Error(`${file} has no pipes`);
    // It may have ended, which the missing answer tells.
    stdin.on("error", () => {});
    this.#answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /**
   * Does not wait for the answer before the question is sent: the next question may be for somebody
   * else.
   */
  async ask<Answer>(...words: readonly (string | number)[]): Promise<Answer> {
    this.#child.stdin?.write(`${words.join(" ")}\n`);
    const { value, done } = await this.#answers.next();
    if (done)
      throw new Error(
        `${this.#child.spawnargs.at(-1)} ended without an answer to ${words.join(" ")}`,
      );
    return JSON.parse(value) as Answer;
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await ended(this.#child);
    clearTimeout(timer);
  }
}

function interpreter(file: string): string[] {
  if (file.endsWith(".py")) return [PYTHON, "-B"];
  // The JVM as it comes, with nothing but its log turned off.
  if (file.endsWith(".java"))
    return ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", peerClassPath()];
  return [process.execPath, "--expose-gc"];
}

/** Starts workers, gives them to `work` and ends them, however it ends. */
export async function withWorkers<T>(
  workers: readonly Worker[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}
