/**
 * What may be written for people and for lines of text. By a list of its own and not by the code
 * under test, whose mistakes would cancel out.
 */
import { FORGED, TRACE } from "./hostile.ts";

const HIDDEN: readonly (readonly [number, number])[] = [
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];
/** Joiners and variation selectors choose an emoji's picture there. */
const BEHIND_EMOJI = /(?:[\p{ExtPict}\p{EMod}0-9#*]|\ufe0f)$/u;

/**
 * Cursor movements and colours of readline, inquirer and live views; {@link TRACE} tells those of
 * others apart.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OWN_SEQUENCES = /(?<=^|\n)\r|(?:\u001b\[[0-9;?]*[A-Za-z]\r?)+/g;

/** Combining marks that cover other lines, or change the character before the name. */
const MARKS_PILED = /[\u0300-\u036f]{9}|(?:^|[\n/"' ])[\u0300-\u036f]/;

/** On a terminal: neither control characters nor anything that cannot be seen. */
export function expectNothingHidden(text: string): void {
  const index = text.indexOf(TRACE);
  if (index >= 0) fail(text, index);
  const pile = text.search(MARKS_PILED);
  if (pile >= 0) fail(text, pile);
  expectNone(
    text.replace(OWN_SEQUENCES, ""),
    (point, before) => isControl(point) || isHidden(point, before),
  );
}

/** In a pipe: no control characters but tabs and line ends. */
export function expectNoControls(text: string): void {
  expectNone(text, isControl);
}

const SUSPICIOUS = new RegExp(
  `[\\0-\\x09\\x0b-\\x1f\\x7f-\\x9f${HIDDEN.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("")}]`,
  "u",
);

function expectNone(text: string, isBad: (point: number, before: string) => boolean): void {
  if (!SUSPICIOUS.test(text)) return;
  let index = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const isLayout =
      character === "\n" || character === "\t" || (character === "\r" && text[index + 1] === "\n");
    const isPlain = isLayout || (point >= 32 && point < 127);
    if (!isPlain && isBad(point, text.slice(Math.max(0, index - 2), index))) fail(text, index);
    index += character.length;
  }
}

function fail(text: string, index: number): never {
  throw new Error(
    `U+${text.codePointAt(index)?.toString(16)} is written as it is: ${near(text, index)}`,
  );
}

function near(text: string, index: number): string {
  return JSON.stringify(text.slice(Math.max(0, index - 60), index + 60));
}

function isControl(point: number): boolean {
  return point < 32 || (point >= 127 && point < 160);
}

function isHidden(point: number, before: string): boolean {
  const isJoiner = point === 0x200d || point === 0xfe0f;
  return (
    HIDDEN.some(([from, to]) => point >= from && point <= to) &&
    !(isJoiner && BEHIND_EMOJI.test(before))
  );
}

const LINE_FORGED = new RegExp(`\\n\\r*${FORGED}`);

/** No line end of a name, a record or an id begins a line. */
export function expectNothingForged(text: string): void {
  const index = `\n${text}`.search(LINE_FORGED);
  if (index >= 0) throw new Error(`a line begins inside a name: ${near(text, index)}`);
}

export function expectOneJsonALine(text: string): void {
  for (const line of text.split("\n").slice(0, -1)) JSON.parse(line);
}
