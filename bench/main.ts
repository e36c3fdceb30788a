/** Measures what zksh promises about speed beside its peers; see docs/performance.md. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judge, type Row } from "./row.ts";
import { embeddedStart } from "./rows/embedded-start.ts";
import { handOver } from "./rows/hand-over.ts";
import { lockSpeed } from "./rows/lock-speed.ts";
import { oneShot } from "./rows/one-shot.ts";
import { scriptLines } from "./rows/script-lines.ts";
import { sessionReads } from "./rows/session-reads.ts";
import { walks } from "./rows/walks.ts";
import { verdictTable } from "./table.ts";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
  },
});

const root = join(import.meta.dirname, "..");
execFileSync(process.execPath, [join(root, "scripts/build.js"), "--quiet"], { cwd: root, stdio: "inherit" });

const all = [oneShot, scriptLines, walks, sessionReads, lockSpeed, handOver, embeddedStart];
const chosen = all.filter(({ name }) => flags.only.length === 0 || flags.only.some((word) => name.includes(word)));
if (chosen.length === 0) {
  console.error(`--only knows ${all.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const rows: Row[] = [];
for (const { name, measure } of chosen) {
  const startedAt = performance.now();
  rows.push(...(await measure({ isQuick: flags.quick })));
  console.error(`${name}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
}
const verdicts = rows.flatMap(judge);
console.log(flags.json ? JSON.stringify(verdicts, null, 2) : verdictTable(verdicts));
if (flags.check && verdicts.some(({ met }) => met === false)) process.exitCode = 1;
