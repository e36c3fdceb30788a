import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseConnectString } from "../../src/session/connect-string.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { type Interval, parseExclusionLog, violations } from "../support/exclusion-log.ts";
import { workCommand } from "../support/peers.ts";
import type { Random } from "../support/random.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { startZksh } from "../support/zksh-process.ts";
import { type HolderEnd, type HolderName, runHolder } from "./holders.ts";
import type { Laboratory, Node } from "./laboratory.ts";
import type { Scenario } from "./scenarios.ts";

const CONTENDERS = ["contender-1", "contender-2"];
const CONTENDER_WORK_SECONDS = 0.5;
const CONTENDER_SESSION = "10s";
/** For the start, an election, an expiry and everything else that is not the work itself. */
const BEYOND_WORK_MS = 120_000;

export interface Round {
  readonly acquisitions: number;
  /** Pairs of commands that ran at the same time. */
  readonly overlaps: readonly string[];
  /** From the last stamp of the holder's command to the first of the next; negative: an overlap. */
  readonly marginMs: number;
  /** Since the fault. */
  readonly holderUntilMs: number;
  readonly nextFromMs: number;
  readonly holder: HolderEnd;
  /** Since the fault, what a listener of the holder's library was told. */
  readonly states: string;
  /** What went wrong besides overlaps. */
  readonly failures: readonly string[];
}

/** One round: a holder works, contenders queue behind it, the fault comes, everybody is served. */
export async function runRound(
  scenario: Scenario,
  lab: Laboratory,
  holderName: HolderName,
  path: string,
  random: Random,
): Promise<Round> {
  const directory = temporaryDirectory("round");
  const log = join(directory, "log");
  writeFileSync(log, "");
  try {
    const roles = await lab.roles();
    const scene = { ...roles, lab, random };
    await scenario.prepare?.(scene);
    const { sessionMs, workSeconds } = scenario;
    const timeoutMs = workSeconds * 1_000 + BEYOND_WORK_MS;
    const deadline = performance.now() + timeoutMs;
    const holding = runHolder(holderName, {
      place: lab.holder,
      servers: connectString(scenario.holderAt(roles)),
      path,
      log,
      name: "holder",
      sessionMs,
      workSeconds,
      timeoutMs,
    });
    const began = eventually(() => readFileSync(log, "utf8").includes("begin "), {
      timeoutMs: 60_000,
    });
    await Promise.race([
      began,
      holding.then(({ output }) => Promise.reject(new Error(`no lock: ${output}`))),
    ]);

    const servers = connectString(scenario.contendersAt(roles));
    const contending = CONTENDERS.map((name) => contend(lab, servers, path, log, name, deadline));
    // The contenders must stand in the queue before the fault comes.
    await waitForTickets(servers, path, 1 + CONTENDERS.length);
    // Faults come at any moment between two heartbeats.
    await sleep(random.between(0, 2_000));

    await scenario.before?.(scene);
    const faultNs = process.hrtime.bigint();
    const faulting = Promise.resolve(scenario.fault(scene));
    const [holder, unserved] = await Promise.all([holding, Promise.all(contending), faulting]);
    const intervals = parseExclusionLog(readFileSync(log, "utf8"));
    return evaluate(scenario, intervals, faultNs, holder, unserved.filter(isText));
  } finally {
    removeDirectory(directory);
  }
}

/**
 * Asks for the lock until its work was done once; resolves with what went wrong, if it never was.
 */
async function contend(
  lab: Laboratory,
  servers: string,
  path: string,
  log: string,
  name: string,
  deadline: number,
): Promise<string | undefined> {
  const options = ["--session-timeout", CONTENDER_SESSION];
  for (;;) {
    const work = workCommand(log, name, "exclusive", CONTENDER_WORK_SECONDS, true);
    const args = ["-v", "-s", servers, "lock", ...options, path, "--", ...work];
    const timeoutMs = Math.max(1_000, deadline - performance.now());
    const run = startZksh(args, { input: "", through: lab.contenders.through, timeoutMs }).result;
    const { code, signal, stderr } = await run.catch((error: Error) => ({
      code: null,
      signal: "timeout",
      stderr: error.message,
    }));
    if (code === 0) return undefined;
    if (performance.now() > deadline)
      return `${name} was not served; it ended with ${code ?? signal}: ${stderr}`;
  }
}

async function waitForTickets(servers: string, path: string, count: number): Promise<void> {
  const session = openSession({ ...parseConnectString(servers), timeoutMs: 10_000 });
  try {
    await eventually(async () => (await session.getChildren(path)).length >= count, {
      timeoutMs: 60_000,
      message: `fewer than ${count} tickets below ${path}`,
    });
  } finally {
    await session.close();
  }
}

function evaluate(
  { commandMust }: Scenario,
  intervals: readonly Interval[],
  faultNs: bigint,
  holder: HolderEnd,
  failures: readonly string[],
): Round {
  const held = intervals.find(({ contender }) => contender === "holder");
  const next = intervals.find(({ contender }) => contender !== "holder");
  const since = (ns: bigint | undefined) =>
    ns === undefined ? Number.NaN : Number(ns - faultNs) / 1e6;
  const holderUntilMs = since(held?.lastNs);
  const nextFromMs = since(next?.beginNs);
  const isOtherwise = commandMust === (holder.outcome === "0" ? "be stopped" : "end by itself");
  return {
    acquisitions: intervals.length,
    overlaps: violations(intervals)
      .filter(({ rule }) => rule === "exclusion")
      .map(({ text }) => text),
    marginMs: nextFromMs - holderUntilMs,
    holderUntilMs,
    nextFromMs,
    holder,
    states: holder.states
      .filter(({ atNs }) => atNs > faultNs)
      .map(({ atNs, state }) => `${state} at ${(since(atNs) / 1_000).toFixed(1)} s`)
      .join(", "),
    failures: [
      ...failures,
      ...(isOtherwise
        ? [
            `the command should ${commandMust}, but it ended with ${holder.outcome}: ${holder.output}`,
          ]
        : []),
    ],
  };
}

function connectString(nodes: readonly Node[]): string {
  return nodes.map(({ server }) => server.address).join(",");
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}
