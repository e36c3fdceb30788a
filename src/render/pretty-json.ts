/** JSON for people: indented, or on one line, and coloured. */
import { isJsonContainer } from "../text/readable.ts";
import type { TextLine } from "./first-rows.ts";
import type { Paint, Theme } from "./theme.ts";

/**
 * What is nested deeper stays on one line: 18 KB of brackets would become 162 MB of indentation.
 */
const MAX_DEPTH = 32;

/**
 * The lines of an object or array, indented by two; undefined when the text is not one. Numbers and
 * strings stay exactly as they are written: parsing and printing them again would change long
 * numbers and escapes.
 */
export function jsonLines(text: string): Iterable<TextLine> | undefined {
  return isJsonContainer(text) ? indent(text, MAX_DEPTH) : undefined;
}

/** The same on one line: `{"a": 1, "b": []}`. */
export function jsonLine(text: string): string | undefined {
  if (!isJsonContainer(text)) return undefined;
  const [line] = indent(text, 0);
  return line?.text;
}

/**
 * One line of JSON in colours. The line has been escaped, and may be cut off anywhere: what is
 * escaped in a string reads as an escape of JSON, so that it stays inside the string.
 */
export function paintJson(line: string, theme: Theme): string {
  let painted = "";
  for (let at = 0; at < line.length; ) {
    const start = at;
    at = skipBlanks(line, at);
    painted += line.slice(start, at);
    if (at === line.length) break;
    const end = tokenEnd(line, at);
    const token = line.slice(at, end);
    painted += paintFor(token, line[skipBlanks(line, end)] === ":", theme)(token);
    at = end;
  }
  return painted;
}

function paintFor(token: string, isKey: boolean, theme: Theme): Paint {
  const unit = token[0] ?? "";
  if (unit === '"') return isKey ? theme.key : theme.string;
  if (/[-0-9]/.test(unit)) return theme.number;
  return /[tfn]/.test(unit) ? theme.literal : (text) => text;
}

/** Brackets below `maxDepth` stay on the line they begin on. */
function* indent(text: string, maxDepth: number): Generator<TextLine> {
  let line = "";
  let depth = 0;
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const start = at;
    const unit = text[at] ?? "";
    at = tokenEnd(text, at);
    if (unit === "}" || unit === "]") {
      const isLineEnd = depth <= maxDepth;
      depth -= 1;
      if (isLineEnd) {
        yield { text: line, end: start };
        line = indentation(depth);
      }
      line += unit;
    } else if (unit === "{" || unit === "[") {
      const next = skipBlanks(text, at);
      line += unit;
      if (text[next] === "}" || text[next] === "]") {
        line += text[next];
        at = next + 1;
        continue;
      }
      depth += 1;
      if (depth > maxDepth) continue;
      yield { text: line, end: at };
      line = indentation(depth);
    } else if (unit === ",") {
      line += depth <= maxDepth ? "," : ", ";
      if (depth > maxDepth) continue;
      yield { text: line, end: at };
      line = indentation(depth);
    } else line += unit === ":" ? ": " : text.slice(start, at);
  }
  yield { text: line, end: text.length };
}

function indentation(depth: number): string {
  return "  ".repeat(depth);
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at] ?? "")) at++;
  return at;
}

/**
 * Behind the bracket, comma, colon, string, number or word that begins at `start`; the text's end
 * if it is cut off.
 */
function tokenEnd(text: string, start: number): number {
  const unit = text[start] ?? "";
  let at = start + 1;
  if (unit === '"') {
    while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    return Math.min(at + 1, text.length);
  }
  if ("{}[],:".includes(unit)) return at;
  while (at < text.length && !'{}[],:" \t\r\n'.includes(text[at] ?? "")) at++;
  return at;
}
