/** What a person is shown of something long: the first screenfuls, and how much more there is. */
import { escapeText } from "../text/escape.ts";
import { displayWidth } from "./display-width.ts";
import type { Paint } from "./theme.ts";

export interface TextLine {
  /** Not yet escaped; without a line end. */
  readonly text: string;
  /** How much of the whole has been shown after this line, in the unit of the caller. */
  readonly end: number;
}

export interface Shown {
  /** Escaped, with a line end behind each line. */
  readonly text: string;
  /** How much of the whole it shows; all of it where nothing was cut. */
  readonly end: number;
  readonly isCut: boolean;
}

/** Five screens of an ordinary terminal. */
const MAX_ROWS = 200;
/** On a terminal of any width. */
const MAX_LENGTH = 64 * 1024;

/**
 * The first lines, as many as fit {@link MAX_ROWS} rows of a terminal with so many columns. They
 * are painted last: what is escaped and counted has no colours yet.
 */
export function firstRows(lines: Iterable<TextLine>, columns: number, paint: Paint): Shown {
  const shown: string[] = [];
  let room = Math.min(MAX_ROWS * columns, MAX_LENGTH);
  let end = 0;
  for (const line of lines) {
    // An escaped character is never shorter than the character.
    const beginning = line.text.slice(0, room + 1);
    const text = escapeText(beginning);
    const rows = Math.max(1, Math.ceil(width(text) / columns));
    if (rows * columns > room) {
      const part = cut(text, room);
      if (part !== "") shown.push(paint(part));
      const taken = Math.round(beginning.length * (part.length / text.length));
      return {
        text: joined(shown),
        end: Math.max(end, line.end - line.text.length + taken),
        isCut: true,
      };
    }
    shown.push(paint(text));
    room -= rows * columns;
    end = line.end;
  }
  return { text: joined(shown), end, isCut: false };
}

const ROWS_AT_ONCE = 10_000;

/** All of them. A few kilobytes of gzip hold millions of empty lines: no string stays for each. */
export function allRows(lines: Iterable<TextLine>, paint: Paint): string {
  const parts: string[] = [];
  let rows: string[] = [];
  for (const { text } of lines) {
    rows.push(paint(escapeText(text)));
    if (rows.length < ROWS_AT_ONCE) continue;
    parts.push(joined(rows));
    rows = [];
  }
  parts.push(joined(rows));
  return parts.join("");
}

/** The lines of a text; a last line end is the end of the last line. */
export function* textLines(text: string): Generator<TextLine> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    // The carriage return of a line end of two characters is no control character in the line.
    yield {
      text: text.slice(start, end > start && text[end - 1] === "\r" && found >= 0 ? end - 1 : end),
      end,
    };
    start = end + 1;
  }
}

function joined(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function cut(text: string, room: number): string {
  if (room <= 0) return "";
  let taken = 0;
  let at = 0;
  for (const character of text) {
    taken += width(character);
    if (taken > room) break;
    at += character.length;
  }
  return text.slice(0, at);
}

/**
 * Marks that a terminal puts onto the character before count too: a line of nothing else would have
 * no end.
 */
function width(text: string): number {
  return Math.max(displayWidth(text), [...text].length);
}
