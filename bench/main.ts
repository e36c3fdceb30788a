/**
 * Measures what zksh promises about speed beside its peers, or how costs grow; see
 * docs/performance.md.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { growing } from "./growth.ts";
import { judge } from "./row.ts";
import { embeddedStart } from "./rows/embedded-start.ts";
import { handOver } from "./rows/hand-over.ts";
import { lockMessages } from "./rows/lock-messages.ts";
import { lockSpeed } from "./rows/lock-speed.ts";
import { oneShot } from "./rows/one-shot.ts";
import { scriptLines } from "./rows/script-lines.ts";
import { sessionReads } from "./rows/session-reads.ts";
import { trees } from "./rows/trees.ts";
import { underLock } from "./rows/under-lock.ts";
import { waitingTerminals } from "./rows/waiting-terminals.ts";
import { walks } from "./rows/walks.ts";
import { whoholds } from "./rows/whoholds.ts";
import { growthText, summary, verdictTable } from "./table.ts";

const USAGE = `npm run bench -- [--quick] [--json] [--check] [--only WORD]... [--growth]

--quick   about two minutes: fewer rounds, smaller trees
--json    for programs (npm run -s, or npm's own lines stand before it)
--check   exit code 1 when a goal is missed that is not out of reach
--only    what has WORD in its name
--growth  how costs grow, instead of the table beside the peers`;

const measurements = [
  oneShot,
  scriptLines,
  sessionReads,
  lockSpeed,
  handOver,
  lockMessages,
  waitingTerminals,
  underLock,
  walks,
  trees,
  whoholds,
  embeddedStart,
];

const flags = readFlags();
const root = join(import.meta.dirname, "..");
execFileSync(process.execPath, [join(root, "scripts/build.js"), "--quiet"], {
  cwd: root,
  stdio: "inherit",
});

if (flags.growth) {
  const tables = await all(choose(growing), ({ measure }) => measure(flags.quick));
  console.log(flags.json ? JSON.stringify(tables, null, 2) : tables.map(growthText).join("\n\n"));
} else {
  const rows = await all(choose(measurements), ({ measure }) => measure({ isQuick: flags.quick }));
  const verdicts = rows.flatMap(judge);
  console.log(flags.json ? JSON.stringify(verdicts, null, 2) : verdictTable(verdicts));
  console.error(summary(verdicts));
  const isMissed = verdicts.some(({ met, outOfReach }) => met === false && !outOfReach);
  if (flags.check && isMissed) process.exitCode = 1;
}

function readFlags() {
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values } = parseArgs({
      options: {
        help: { ...flag, short: "h" },
        quick: flag,
        json: flag,
        check: flag,
        growth: flag,
        only: { type: "string", multiple: true, default: [] },
      },
    });
    if (!values.help) return values;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function choose<One extends { readonly name: string }>(from: readonly One[]): One[] {
  const { only } = flags;
  const chosen = from.filter(
    ({ name }) => only.length === 0 || only.some((word) => name.includes(word)),
  );
  if (chosen.length > 0) return chosen;
  console.error(
    `nothing has ${only.join(" or ")} in its name: ${from.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}

/** One after the other: they would disturb each other. */
async function all<One extends { readonly name: string }, Result>(
  chosen: readonly One[],
  measure: (one: One) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of chosen) {
    const startedAt = performance.now();
    results.push(...(await measure(one)));
    console.error(`${one.name}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
  return results;
}
