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

/** A character as a person sees it: a letter with its marks, an emoji of several parts, a flag. */
export interface Character {
  readonly text: string;
  /** How many columns a terminal gives to it. */
  readonly width: number;
}

const ASCII = /^[ -~]*$/;
// East Asian Wide and Fullwidth (UAX #11), and what terminals show as a picture without being asked
// to.
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d356}\u{1d360}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
// Marks, joiners and variation selectors, and the vowels and finals of a Korean syllable written in
// its parts.
const ATTACHED = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7c6\ud7cb-\ud7fb]/u;
const PICTURE = /\p{ExtPict}/u;
const SKIN_TONE = /\p{EMod}/u;
const HALF_FLAG = /\p{RI}/u;
const KEY = /^[0-9#*]/;
const JOINER = "\u200d";
/** Asks for the picture of a character that is text otherwise: `❤` and `❤️`. */
const AS_PICTURE = "\ufe0f";
const KEYCAP = "\u20e3";

/**
 * The characters of a text in linear time. Intl.Segmenter finds them too, but takes quadratic time
 * in Node 20 (measured:
 * 40,000 characters 2 to 3 s, 20,000 a quarter of that), and so do packages that are built on it, such as string-width.
 */
export function* characters(text: string): Generator<Character> {
  let whole = "";
  let width = 0;
  let last = "";
  for (const point of text) {
    const joined: number | undefined =
      whole === "" ? undefined : widthTogether(whole, last, point, width);
    if (joined === undefined) {
      if (whole !== "") yield { text: whole, width };
      whole = point;
      width = widthAlone(point);
    } else {
      whole += point;
      width = joined;
    }
    last = point;
  }
  if (whole !== "") yield { text: whole, width };
}

/** The width of a character with a further code point in it; undefined when that begins another. */
function widthTogether(
  whole: string,
  last: string,
  point: string,
  width: number,
): number | undefined {
  if (point >= " " && point <= "~") return undefined;
  if (point === AS_PICTURE && PICTURE.test(last)) return 2;
  if (point === KEYCAP && whole.length <= 2 && KEY.test(whole)) return 2;
  if (ATTACHED.test(point)) return width;
  if (SKIN_TONE.test(point) && PICTURE.test(last)) return 2;
  if (last === JOINER && PICTURE.test(point) && width > 0) return 2;
  return HALF_FLAG.test(point) && whole === last && HALF_FLAG.test(last) ? 2 : undefined;
}

function widthAlone(point: string): number {
  if (point >= " " && point <= "~") return 1;
  if (ATTACHED.test(point)) return 0;
  return WIDE.test(point) && !HALF_FLAG.test(point) ? 2 : 1;
}

/** How many columns a terminal gives to a text. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of characters(text)) width += character.width;
  return width;
}
