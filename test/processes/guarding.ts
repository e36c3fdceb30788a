import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { findProcess, hasInEnvironment, processTable } from "../../src/processes/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTracked, temporaryDirectory } from "../support/tracked-process.ts";
import type { Guarding } from "./fixtures/guarding-process.ts";

const MARK = { ZKSH_TEST_MARK: randomUUID() };

/** Makes all that is started from it known by {@link leftovers}. */
export const environment = { ...process.env, ...MARK };

/** What this file's tests have started and not yet ended, watchdogs among it. */
export function leftovers(): number[] {
  const mark = `ZKSH_TEST_MARK=${MARK.ZKSH_TEST_MARK}`;
  return processTable()
    .filter(({ pid, state }) => state !== "zombie" && hasInEnvironment(pid, mark))
    .map(({ pid }) => pid);
}

/** Ends all that was left, so that one failure does not lead to others. */
export function killLeftovers(): void {
  for (const pid of leftovers()) kill(pid, "SIGKILL");
}

/** Never a group: 0, where a number was not found, is the tests' own. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  if (!(pid > 1)) throw new Error(`${pid} is not the number of a process`);
  process.kill(pid, signal);
}

export function isRunning(pid: number): boolean {
  const row = findProcess(pid);
  return row !== undefined && row.state !== "zombie";
}

/** The words of a file that may not be there yet. */
export function wordsIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split(/\s+/).filter(Boolean) : [];
}

/** Waits until the file has so many numbers, which are those of processes. */
export async function pidsIn(file: string, count: number): Promise<number[]> {
  return eventually(() => {
    const words = wordsIn(file);
    return words.length >= count && readFileSync(file, "utf8").endsWith("\n") && words.map(Number);
  });
}

export function guardingCommand(guarding: Guarding): [string, ...string[]] {
  return [process.execPath, guardingProgram(), JSON.stringify(guarding)];
}

let built: string | undefined;

/** Bundled as zksh is: a loader would open the streams before we do, and take its time. */
function guardingProgram(): string {
  if (built !== undefined) return built;
  const directory = temporaryDirectory("guarding");
  const root = join(import.meta.dirname, "../..");
  built = join(directory, "guarding-process.mjs");
  buildSync({
    entryPoints: [join(import.meta.dirname, "fixtures/guarding-process.ts")],
    outfile: built,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["inquirer", "ora", "chalk"],
  });
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  copyFileSync(join(root, "dist/watchdog.cjs"), join(directory, "watchdog.cjs"));
  return built;
}

interface Said {
  readonly pid?: number;
  readonly hasOwnGroup?: boolean;
  readonly signal?: string;
  readonly end?: object;
}

/** A process of its own that guards a program. */
export class GuardingProcess {
  readonly process: ChildProcess;
  #stdout = "";

  constructor(guarding: Guarding) {
    const [file, ...args] = guardingCommand(guarding);
    // A session of its own, so that there is no controlling terminal, wherever the tests run.
    this.process = spawnTracked(file, args, {
      env: environment,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.process.stdout?.on("data", (chunk) => {
      this.#stdout += chunk;
    });
  }

  get pid(): number {
    return this.process.pid ?? Number.NaN;
  }

  get said(): Said[] {
    const lines = this.#stdout.split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line));
  }

  get signals(): string[] {
    return this.said.flatMap(({ signal }) => signal ?? []);
  }

  /** The program's process. */
  started(): Promise<number> {
    return eventually(() => this.said[0]?.pid ?? false, { message: "nothing was started" });
  }

  /** How the program ended. */
  ended(): Promise<object> {
    return eventually(() => this.said.find(({ end }) => end)?.end ?? false, {
      message: "it has not ended",
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }
}
