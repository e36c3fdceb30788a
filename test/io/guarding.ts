import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findProcess, hasInEnvironment, processTable } from "../../src/io/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTracked } from "../support/tracked-process.ts";
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
  const program = join(import.meta.dirname, "fixtures/guarding-process.ts");
  return [process.execPath, "--import", import.meta.resolve("tsx"), program, JSON.stringify(guarding)];
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
  #stderr = "";

  constructor(guarding: Guarding) {
    const [file, ...args] = guardingCommand(guarding);
    // A session of its own, so that there is no controlling terminal, wherever the tests run.
    this.process = spawnTracked(file, args, {
      env: environment,
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.process.stderr?.on("data", (chunk) => {
      this.#stderr += chunk;
    });
  }

  get pid(): number {
    return this.process.pid ?? Number.NaN;
  }

  get said(): Said[] {
    const lines = this.#stderr.split("\n").filter((line) => line.startsWith("{"));
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
    return eventually(() => this.said.find(({ end }) => end)?.end ?? false, { message: "it has not ended" });
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }
}
