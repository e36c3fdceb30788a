/** Measures what zksh promises about speed, and prints a table; `--json` prints the same for programs. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { measureEmbeddedStart } from "./embedded-start.ts";
import { measureSessionReads } from "./session-reads.ts";

/** One measured piece of work. */
export interface Row {
  readonly work: string;
  readonly unit: string;
  readonly zksh: number;
  readonly peer: number;
  /** What zksh : peer should be at most or at least. */
  readonly goal: { readonly atMost: number } | { readonly atLeast: number };
}

const root = join(import.meta.dirname, "..");
execFileSync(process.execPath, [join(root, "scripts/build.js"), "--quiet"], { cwd: root, stdio: "inherit" });

const rows = [...(await measureEmbeddedStart()), ...(await measureSessionReads())].map((row) => {
  const ratio = row.zksh / row.peer;
  const met = "atMost" in row.goal ? ratio <= row.goal.atMost : ratio >= row.goal.atLeast;
  return { ...row, ratio, met };
});

if (process.argv.includes("--json")) {
  console.log(JSON.stringify(rows, null, 2));
} else {
  const heading = ["work", "zksh", "peer", "ratio", "goal", "met"];
  const lines = rows.map(({ work, unit, zksh, peer, ratio, goal, met }) => [
    work,
    `${format(zksh)} ${unit}`,
    `${format(peer)} ${unit}`,
    ratio.toFixed(2),
    "atMost" in goal ? `<= ${goal.atMost}` : `>= ${goal.atLeast}`,
    met ? "yes" : "no",
  ]);
  printTable([heading, ...lines]);
}

function format(value: number): string {
  return value < 1000 ? value.toFixed(1) : String(Math.round(value));
}

function printTable(lines: readonly (readonly string[])[]): void {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join(" | ").trimEnd());
  }
}
