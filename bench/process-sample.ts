import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { ended, spawnTracked } from "../test/support/tracked-process.ts";
import { zksh } from "./processes.ts";

/** What one run of the built program took. */
export interface ProcessSample {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** Makes a process say at its end what it has used, on a pipe of its own. */
const TELL =
  'import{writeSync}from"node:fs";process.on("exit",()=>writeSync(3,JSON.stringify(process.resourceUsage())))';

/** Runs the built program to its end; its output goes nowhere. */
export async function sampleZksh(...args: string[]): Promise<ProcessSample> {
  const startedAt = performance.now();
  const child = spawnTracked(
    process.execPath,
    ["--import", `data:text/javascript,${TELL}`, ...zksh(...args)],
    {
      stdio: ["ignore", "ignore", "inherit", "pipe"],
    },
  );
  const told = text(child.stdio[3] as Readable);
  await ended(child);
  const wallMs = performance.now() - startedAt;
  if (child.exitCode !== 0) throw new Error(`zksh ${args.join(" ")} ended with ${child.exitCode}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(await told) as NodeJS.ResourceUsage;
  return { wallMs, cpuMs: (userCPUTime + systemCPUTime) / 1_000, peakMb: maxRSS / 1_024 };
}
