import { displayWidth } from "./display-width.ts";

export interface Cell {
  readonly text: string;
  /** The same with colours, when it has any. */
  readonly colored?: string;
}

const GAP = 2;

/**
 * Cells from top to bottom, then to the right, in as many columns as the width allows; ends with a
 * line end.
 */
export function columns(cells: readonly Cell[], width: number): string {
  if (cells.length === 0) return "";
  const widths = cells.map(({ text }) => displayWidth(text));
  let lines = cells.length;
  for (
    let count = Math.min(cells.length, Math.floor((width + GAP) / (GAP + 1)));
    count > 1;
    count--
  ) {
    lines = Math.ceil(cells.length / count);
    if (columnWidths(widths, lines).reduce((sum, one) => sum + one + GAP, -GAP) <= width) break;
    lines = cells.length;
  }
  const perColumn = columnWidths(widths, lines);
  return Array.from({ length: lines }, (_, line) =>
    writeLine(line, lines, cells, widths, perColumn),
  ).join("");
}

function columnWidths(widths: readonly number[], lines: number): number[] {
  return Array.from({ length: Math.ceil(widths.length / lines) }, (_, column) =>
    widest(widths, column * lines, (column + 1) * lines),
  );
}

/** Counted one by one: as arguments of Math.max 130,000 widths are more than the stack takes. */
function widest(widths: readonly number[], start: number, end: number): number {
  let most = 0;
  for (let i = start; i < Math.min(end, widths.length); i++) most = Math.max(most, widths[i] ?? 0);
  return most;
}

function writeLine(
  line: number,
  lines: number,
  cells: readonly Cell[],
  widths: readonly number[],
  perColumn: readonly number[],
): string {
  let text = "";
  let owed = 0;
  for (const [column, columnWidth] of perColumn.entries()) {
    const index = column * lines + line;
    const cell = cells[index];
    if (!cell) break;
    text += " ".repeat(owed) + (cell.colored ?? cell.text);
    owed = columnWidth - (widths[index] ?? 0) + GAP;
  }
  return `${text}\n`;
}
