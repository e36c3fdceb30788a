export interface Cell {
  readonly text: string;
  /** The same with colours, when it has any. */
  readonly colored?: string;
}

const GAP = 2;

/** Cells from top to bottom, then to the right, in as many columns as the width allows; ends with a line end. */
export function columns(cells: readonly Cell[], width: number): string {
  if (cells.length === 0) return "";
  const widths = cells.map(({ text }) => displayWidth(text));
  let lines = cells.length;
  for (let count = Math.min(cells.length, Math.floor((width + GAP) / (GAP + 1))); count > 1; count--) {
    lines = Math.ceil(cells.length / count);
    if (columnWidths(widths, lines).reduce((sum, one) => sum + one + GAP, -GAP) <= width) break;
    lines = cells.length;
  }
  const perColumn = columnWidths(widths, lines);
  return Array.from({ length: lines }, (_, line) => writeLine(line, lines, cells, widths, perColumn)).join("");
}

function columnWidths(widths: readonly number[], lines: number): number[] {
  return Array.from({ length: Math.ceil(widths.length / lines) }, (_, column) =>
    Math.max(...widths.slice(column * lines, (column + 1) * lines)),
  );
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

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

/** How many places a terminal gives to a text. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += /\p{Mn}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
