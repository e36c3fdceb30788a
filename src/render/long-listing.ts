/** `ls -l`: a row for each znode, aligned on a terminal, with tabs between in a pipe. */

import type { LongListingResult } from "../results/znodes.ts";
import { kindOf } from "../session/node-kind.ts";
import { baseName } from "../session/path.ts";
import type { Stat } from "../session/session.ts";
import { escapeName } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { namesFor, type View } from "./renderer.ts";
import { isoTime, readableDate } from "./stat.ts";

const TITLES: readonly string[] = ["SIZE", "VERSION", "CHILDREN", "MODIFIED", "OWNER"];
/** The least width of each column, so that the pieces of a recursive listing mostly line up. */
const LEAST: readonly number[] = [7, 7, 8, 19, 5];
/** Numbers end where their title ends, words begin where it begins. */
const IS_NUMBER: readonly boolean[] = [true, true, true, false, false];

export function textLongListing(
  { entries, isRecursive, isContinued }: LongListingResult,
  view: View,
): string {
  const nameOf = (path: string) => (isRecursive ? path : baseName(path));
  if (!view.isTTY) {
    const name = namesFor(view);
    return entries
      .map(({ path, stat }) => `${rawCells(stat).join("\t")}\t${name(nameOf(path))}\n`)
      .join("");
  }
  if (entries.length === 0)
    return isRecursive || view.isQuiet ? "" : `${view.theme.faint("(no children)")}\n`;
  const rows = entries.map(({ path, stat }) => ({
    cells: readableCells(stat),
    name: shownName(nameOf(path), stat, view),
  }));
  const widths = TITLES.map((title, i) =>
    rows.reduce(
      (most, { cells }) => Math.max(most, cells[i]?.length ?? 0),
      Math.max(title.length, LEAST[i] ?? 0),
    ),
  );
  const row = (cells: readonly string[]) =>
    cells
      .map((cell, i) =>
        IS_NUMBER[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join("  ");
  const head = isContinued ? "" : `${view.theme.heading(`${row(TITLES)}  NAME`)}\n`;
  return head + rows.map(({ cells, name }) => `${row(cells)}  ${name}\n`).join("");
}

function rawCells(stat: Stat): string[] {
  const { dataLength, version, numChildren, mtime, ephemeralOwner } = stat;
  return [
    String(dataLength),
    String(version),
    String(numChildren),
    isoTime(mtime),
    hexId(ephemeralOwner),
  ];
}

function readableCells(stat: Stat): string[] {
  const { dataLength, version, numChildren, mtime } = stat;
  return [
    String(dataLength),
    String(version),
    String(numChildren),
    readableDate(mtime),
    ownerOf(stat),
  ];
}

/** The same marks as in `ls`: name/ has children, name* is ephemeral. */
function shownName(name: string, stat: Stat, { theme }: View): string {
  const text = escapeName(name);
  if (kindOf(stat) === "ephemeral") return `${theme.ephemeral(text)}*`;
  return stat.numChildren > 0 && name !== "/" ? `${theme.parent(text)}/` : text;
}

/** The session that owns an ephemeral, or what else the znode is. */
function ownerOf(stat: Stat): string {
  const kind = kindOf(stat);
  if (kind === "ephemeral") return hexId(stat.ephemeralOwner);
  return kind === "persistent" ? "-" : kind;
}
