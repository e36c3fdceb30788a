import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ended, spawnTracked, temporaryDirectory } from "../test/support/tracked-process.ts";

const ZKSH = join(import.meta.dirname, "../bin/zksh.js");

/** A program and its arguments. */
export type CommandLine = readonly [program: string, ...args: string[]];

/** The built program, as its users run it. */
export function zksh(...args: string[]): CommandLine {
  return [ZKSH, ...args];
}

/** The script that the package installs. */
export function zkcli(address: string, ...args: string[]): CommandLine {
  const home = process.env.ZOOKEEPER_HOME ?? "/usr/share/zookeeper";
  return [join(home, "bin/zkCli.sh"), "-server", address, ...args];
}

export interface RunOptions {
  /** A file to read stdin from. Left out: an empty stdin. */
  readonly input?: string;
  /** A file for stdout. Left out: nobody reads it. */
  readonly output?: string;
  /** What its environment has beside the least that it needs. */
  readonly env?: Readonly<Record<string, string>>;
}

let directory: string | undefined;

/** A file that does not outlive this process. */
export function scratchFile(name: string): string {
  directory ??= temporaryDirectory("bench");
  return join(directory, name);
}

/**
 * Runs a program to its end; gives the milliseconds from before its start until after its end.
 * Throws when it fails.
 */
export async function run(
  [program, ...args]: CommandLine,
  { input, output, env }: RunOptions = {},
): Promise<number> {
  const complaints = scratchFile("stderr");
  const files = [
    openSync(input ?? "/dev/null", "r"),
    openSync(output ?? "/dev/null", "w"),
    openSync(complaints, "w"),
  ];
  try {
    const startedAt = performance.now();
    const child = spawnTracked(program, args, {
      stdio: files,
      // A home of its own: shells keep histories and caches there. One for all runs, so that a
      // cache can be of use.
      env: { PATH: process.env.PATH ?? "", HOME: scratchFile(""), LANG: "C.UTF-8", ...env },
    });
    await ended(child);
    const took = performance.now() - startedAt;
    if (child.exitCode !== 0) {
      const said = readFileSync(complaints, "utf8");
      throw new Error(`${program} ${args.join(" ")} ended with ${child.exitCode}: ${said}`);
    }
    return took;
  } finally {
    for (const file of files) closeSync(file);
  }
}

export interface Measured {
  readonly ms: number;
  /**
   * The most memory that it had at any time, in megabytes; of its largest process, where it has
   * several.
   */
  readonly peakMb: number;
}

/** As {@link run}, with the memory that it took. */
export async function runMeasured(line: CommandLine, options?: RunOptions): Promise<Measured> {
  const report = scratchFile("time");
  const ms = await run(["/usr/bin/time", "-f", "%M", "-o", report, ...line], options);
  return { ms, peakMb: Number(readFileSync(report, "utf8")) / 1024 };
}

/** How many lines a program has written of those that `isWanted`. */
export function countLines(file: string, isWanted: (line: string) => boolean): number {
  return readFileSync(file, "utf8").split("\n").filter(isWanted).length;
}
