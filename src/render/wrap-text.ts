import { characters, displayWidth } from "./display-width.ts";

interface WrapOptions {
  /** What stands between two words. */
  readonly gap?: string;
  /** Words that are longer than a line stay whole, for the terminal to break: they can be copied. */
  readonly keepsWords?: boolean;
}

/** No lines narrower than this, however narrow the terminal is. */
const LEAST_WIDTH = 10;

/** Lines of at most `width` columns; a word that is longer is cut into pieces. */
export function wrapText(
  text: string,
  width: number,
  { gap = " ", keepsWords = false }: WrapOptions = {},
): string[] {
  const most = Math.max(width, LEAST_WIDTH);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(gap)) {
    const longer: string = line === undefined ? word : line + gap + word;
    if (displayWidth(longer) <= most) {
      line = longer;
      continue;
    }
    if (line !== undefined && line !== "") lines.push(line);
    const parts = keepsWords ? [word] : pieces(word, most);
    lines.push(...parts.slice(0, -1));
    line = parts.at(-1);
  }
  return [...lines, line ?? ""];
}

/**
 * A word in pieces that fit, character by character: measuring what is left again and again takes
 * quadratic time.
 */
function pieces(word: string, most: number): string[] {
  const found: string[] = [];
  let piece = "";
  let width = 0;
  for (const character of characters(word)) {
    if (width + character.width > most) {
      found.push(piece);
      piece = "";
      width = 0;
    }
    piece += character.text;
    width += character.width;
  }
  return [...found, piece];
}
