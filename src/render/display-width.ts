/** How many columns of a terminal a text takes, and the characters that a person sees in it. */
import { eastAsianWidth } from "get-east-asian-width";

/** A character as a person sees it: a letter with its marks, an emoji of several parts, a flag. */
export interface Character {
  readonly text: string;
  /** How many columns a terminal gives to it. */
  readonly width: number;
}

const ASCII = /^[ -~]*$/;
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
 * The characters of a text in linear time, which Intl.Segmenter and string-width do not manage in
 * Node 20: docs/adr/0006-display-width.md.
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
  return ATTACHED.test(point) ? 0 : eastAsianWidth(point.codePointAt(0) ?? 0);
}

/** How many columns a terminal gives to a text. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of characters(text)) width += character.width;
  return width;
}
