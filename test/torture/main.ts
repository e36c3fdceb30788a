/** Exclusion under fire, from the command line; what npm test does for seconds, for minutes. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { RecipeName } from "./contender.ts";
import { makeSchedule } from "./schedule.ts";
import { torture } from "./torture.ts";

const RECIPES: readonly RecipeName[] = ["lock", "rwlock", "sem"];
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "300" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    recipe: { type: "string" },
    processes: { type: "string", default: "8" },
    // Takes the place of zksh: with test/torture/fixtures/careless-lock.js the rig has something to
    // find.
    program: { type: "string" },
  },
});
const recipes = RECIPES.filter((recipe) => values.recipe === undefined || values.recipe === recipe);
const [seconds, seed, processes] = [values.seconds, values.seed, values.processes].map(Number) as [
  number,
  number,
  number,
];
if (recipes.length === 0 || !(seconds > 0) || !(processes > 0) || !Number.isInteger(seed)) {
  console.error(
    "usage: npm run torture -- [--seconds N] [--seed N] [--recipe lock|rwlock|sem] [--processes N]",
  );
  process.exit(2);
}

const root = join(import.meta.dirname, "../..");
execFileSync(process.execPath, [join(root, "scripts/build.js"), "--quiet"], {
  cwd: root,
  stdio: "inherit",
});

let isFine = true;
for (const recipe of recipes) {
  console.log(`${recipe}: seed ${seed}, ${makeSchedule(seed, seconds, processes).length} steps`);
  const report = await torture({
    recipe,
    seconds,
    seed,
    processes,
    ...(values.program !== undefined && { program: resolve(values.program) }),
    onHappening: (line) => console.log(line),
  });
  for (const violation of report.violations) console.error(`VIOLATION ${violation}`);
  if (report.violations.length > 0) {
    isFine = false;
    const file = join(tmpdir(), `zksh-torture-${recipe}-${seed}.log`);
    writeFileSync(file, report.log);
    console.error(`the log is in ${file}`);
  }
  console.log(report.summary);
}
process.exit(isFine ? 0 : 1);
