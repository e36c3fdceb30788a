import { displayWidth } from "./columns.ts";

export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** The column may be cut to this width where there is no room; left out: never. */
  readonly least?: number;
}

const GAP = "  ";

/** A table's title line and its rows, cut where they would not fit the width; `indent` is what the first column takes. */
export function tableLines(
  columns: readonly Column[],
  width: number,
): { head: string; lines: string[]; indent: string } {
  const widths = columns.map(({ title, cells }) =>
    cells.reduce((most, cell) => Math.max(most, displayWidth(cell)), title.length),
  );
  let excess = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - width;
  // The widest gives first: it has the most to spare.
  while (excess > 0) {
    const givers = columns.flatMap(({ least }, index) =>
      least !== undefined && (widths[index] ?? 0) > least ? [index] : [],
    );
    const giver = givers.reduce((most, index) => ((widths[index] ?? 0) > (widths[most] ?? -1) ? index : most), -1);
    if (giver < 0) break;
    widths[giver] = (widths[giver] ?? 0) - 1;
    excess -= 1;
  }
  const line = (cells: readonly string[]) =>
    cut(
      cells
        .map((cell, index) => pad(cut(cell, widths[index] ?? 0), widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
      width,
    );
  const rows = columns[0]?.cells.length ?? 0;
  return {
    indent: " ".repeat((widths[0] ?? 0) + GAP.length),
    head: line(columns.map(({ title }) => title)),
    lines: Array.from({ length: rows }, (_, row) => line(columns.map(({ cells }) => cells[row] ?? ""))),
  };
}

/** Lines of at most `width`; a word that is longer is cut into pieces. */
export function wrapText(text: string, width: number): string[] {
  const most = Math.max(width, 10);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= most) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    for (; displayWidth(line) > most; line = line.slice(most)) lines.push(line.slice(0, most));
  }
  return [...lines, line];
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
