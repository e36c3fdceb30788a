import { type Character, characters, displayWidth } from "./display-width.ts";

export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** The column may be cut to this width where there is no room; left out: never. */
  readonly least?: number;
}

const GAP = "  ";

/**
 * A table's title line and its rows, cut where they would not fit the width; `indent` is what the
 * first column takes.
 */
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
    const giver = givers.reduce(
      (most, index) => ((widths[index] ?? 0) > (widths[most] ?? -1) ? index : most),
      -1,
    );
    if (giver < 0) break;
    widths[giver] = (widths[giver] ?? 0) - 1;
    excess -= 1;
  }
  const line = (cells: readonly string[]) =>
    cut(
      cells
        .map((cell, index) => pad(cutMiddle(cell, widths[index] ?? 0), widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
      width,
    );
  const rows = columns[0]?.cells.length ?? 0;
  return {
    indent: " ".repeat((widths[0] ?? 0) + GAP.length),
    head: line(columns.map(({ title }) => title)),
    lines: Array.from({ length: rows }, (_, row) =>
      line(columns.map(({ cells }) => cells[row] ?? "")),
    ),
  };
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

/**
 * Keeps the end too: there is the number by which `web-0017` and `lock-0000000007` are told from
 * their neighbours.
 */
export function cutMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const all = [...characters(text)];
  const end = beginning(all.toReversed(), Math.floor((width - 1) / 2)).reverse();
  const begin = beginning(all, width - 1 - widthOf(end));
  return `${textOf(begin)}…${textOf(end)}`;
}

export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return `${textOf(beginning([...characters(text)], width - 1))}…`;
}

function beginning(all: readonly Character[], width: number): Character[] {
  let room = width;
  const end = all.findIndex((character) => {
    room -= character.width;
    return room < 0;
  });
  return all.slice(0, end < 0 ? all.length : end);
}

function textOf(all: readonly Character[]): string {
  return all.map(({ text }) => text).join("");
}

function widthOf(all: readonly Character[]): number {
  return all.reduce((sum, { width }) => sum + width, 0);
}
