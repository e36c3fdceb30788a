/** Locks on real ensembles whose networks and servers fail, each server in a network namespace. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../support/random.ts";
import type { HolderName } from "./holders.ts";
import { Laboratory } from "./laboratory.ts";
import { type Outcome, roundLine, table } from "./report.ts";
import { type Round, runRound } from "./round.ts";
import { isInSandbox, missingPart, runInSandbox } from "./sandbox.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

const HOLDERS: readonly HolderName[] = ["zksh", "curator", "kazoo"];
const USAGE = `npm run test:partitions -- [--rounds N] [--only NAME]... [--holder zksh|curator|kazoo] [--parallel N] [--seed N]

--rounds    rounds of each scenario; without it those of CI
--only      scenarios of that name; can be given more than once
--holder    who holds while the fault comes; Curator and kazoo are measured, not judged
--parallel  scenarios at a time (2)
--list      names the scenarios`;

const options = readOptions();
if (isInSandbox()) await runScenarios();
else await enterSandbox();

async function enterSandbox(): Promise<void> {
  const missing = missingPart();
  if (missing !== undefined) {
    console.error(missing);
    process.exit(1);
  }
  const root = join(import.meta.dirname, "../..");
  execFileSync(process.execPath, [join(root, "scripts/build.js"), "--quiet"], {
    cwd: root,
    stdio: "inherit",
  });
  process.exit(await runInSandbox(process.argv.slice(2)));
}

async function runScenarios(): Promise<void> {
  const startedAt = performance.now();
  const waiting = options.scenarios.map((scenario, index) => ({ scenario, index }));
  const outcomes: Outcome[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      outcomes.push(await runScenario(next.scenario, next.index));
    }
  };
  await Promise.all(Array.from({ length: options.parallel }, work));

  const order = options.scenarios.map(({ name }) => name);
  outcomes.sort(
    (one, other) => order.indexOf(one.scenario.name) - order.indexOf(other.scenario.name),
  );
  console.log(`\n${table(outcomes, options.holder)}\n`);
  for (const { scenario, problems } of outcomes)
    for (const text of problems) console.log(`${scenario.name}: ${text}`);
  const failed = outcomes.filter(({ problems }) => problems.length > 0).length;
  console.log(`seed ${options.seed}, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  console.log(`${outcomes.length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

async function runScenario(scenario: Scenario, index: number): Promise<Outcome> {
  const rounds: Round[] = [];
  const problems: string[] = [];
  const random = new Random(options.seed * 100 + index);
  for (let number = 1; number <= (options.rounds ?? scenario.rounds); number++) {
    try {
      // A new ensemble for each round: what the last one did to the servers is no part of this one.
      const lab = await Laboratory.build(index, scenario.ensemble);
      try {
        const round = await runRound(scenario, lab, options.holder, "/lock", random);
        rounds.push(round);
        console.log(roundLine(scenario, number, round));
        // What Curator and kazoo promise is less; their overlaps are figures.
        if (options.holder === "zksh")
          problems.push(...round.overlaps.map((text) => `two holders: ${text}`));
        if (options.holder === "zksh") problems.push(...round.failures);
      } finally {
        await lab.close();
      }
    } catch (error) {
      problems.push(`round ${number} broke off: ${(error as Error).stack}`);
      console.log(`${scenario.name} ${number}: broke off: ${(error as Error).message}`);
    }
  }
  return { scenario, rounds, problems };
}

function readOptions() {
  const { values } = parseOptions();
  const [parallel, seed, rounds] = [values.parallel, values.seed, values.rounds].map(Number) as [
    number,
    number,
    number,
  ];
  if (values.list) {
    for (const { name, text } of scenarios) console.log(`${name.padEnd(18)} ${text}`);
    process.exit(0);
  }
  const unknown = values.only.filter((name) =>
    scenarios.every((scenario) => scenario.name !== name),
  );
  const holder = HOLDERS.find((name) => name === values.holder);
  if (unknown.length > 0) refuse(`there is no scenario ${unknown.join(", ")}: see --list`);
  if (holder === undefined) refuse(`there is no holder ${values.holder}`);
  if (!(parallel > 0) || !Number.isInteger(seed) || (values.rounds !== undefined && !(rounds > 0)))
    refuse("bad number");
  const isChosen = ({ name, rounds: usual }: Scenario) =>
    values.only.length > 0 ? values.only.includes(name) : values.rounds !== undefined || usual > 0;
  return {
    scenarios: scenarios.filter(isChosen),
    ...(values.rounds !== undefined && { rounds }),
    holder,
    parallel,
    seed,
  };
}

function parseOptions() {
  try {
    return parseArgs({
      options: {
        rounds: { type: "string" },
        only: { type: "string", multiple: true, default: [] },
        holder: { type: "string", default: "zksh" },
        parallel: { type: "string", default: "2" },
        seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
        list: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(reason: string): never {
  console.error(`${reason}\n\n${USAGE}`);
  process.exit(2);
}
