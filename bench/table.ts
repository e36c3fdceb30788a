import type { GrowthTable } from "./growth.ts";
import type { Goal, Verdict } from "./row.ts";
import type { Figure } from "./statistics.ts";

const HEADING = ["work", "zksh", "peer", "needs", "zksh : peer", "goal", "met"];

/** Markdown, aligned so that it can be read as it is. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(
    ({ work, unit, zksh, peer, peerFigure, ratio, goal, met, outOfReach }) => [
      work,
      showFigure(zksh, unit),
      peer ?? "",
      peerFigure ? showFigure(peerFigure, unit) : "",
      ratio === undefined ? "" : showNumber(ratio),
      goal ? `${showGoal(goal)}${ratio === undefined ? ` ${unit}` : ""}` : "",
      met === undefined
        ? ""
        : met
          ? "yes"
          : outOfReach
            ? `NO; ${outOfReach.name} ${showNumber(outOfReach.ratio)}`
            : "NO",
    ],
  );
  return markdown([HEADING, ...lines]);
}

/** The table in a sentence. */
export function summary(verdicts: readonly Verdict[]): string {
  const missed = verdicts.filter(({ met }) => met === false);
  const outOfReach = missed.filter(({ outOfReach }) => outOfReach).length;
  if (missed.length === 0) return "every goal is met";
  if (missed.length === outOfReach)
    return `every goal is met that can be; ${outOfReach} out of reach`;
  return `${missed.length} missed${outOfReach > 0 ? `, ${outOfReach} of them out of reach` : ""}`;
}

export function growthText({ title, columns, rows }: GrowthTable): string {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === "number" ? showNumber(cell) : cell)),
  );
  return `${title}\n\n${markdown([columns, ...cells])}`;
}

function markdown(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const draw = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  const [heading = [], ...rest] = lines;
  return [
    draw(heading),
    `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`,
    ...rest.map(draw),
  ].join("\n");
}

function showFigure({ median, low, high }: Figure, unit: string): string {
  const spread = low === high ? "" : ` (${showNumber(low)}–${showNumber(high)})`;
  return `${showNumber(median)}${spread} ${unit}`.trimEnd();
}

function showGoal(goal: Goal): string {
  return "atMost" in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`;
}

/** Three digits that mean something. */
function showNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return size >= 0.1 ? value.toFixed(size >= 10 ? 1 : 2) : value.toPrecision(2);
}
