/**
 * Escapes text from outside. Names, data and messages may come from any client that can write to
 * the ensemble, and a terminal executes the control characters in its input.
 */

// Escaped are controls (C0, DEL, C1), line separators, direction marks and characters without a
// picture: a name with a zero-width space must not look like the name without it. Also escaped are
// combining marks without a letter to stand on, which would change the character before the text,
// and marks beyond the eighth on one letter, which would cover the lines around it. No script stacks
// as many. Joiners and variation selectors stay inside an emoji, where they choose the picture;
// anywhere else they are escaped. These are functions because V8 builds the set of a \p as soon as
// it meets one, and most texts need none.
const emojiOrUnsafe = () =>
  /(\p{ExtPict}\p{EMod}?\ufe0f?(?:\u200d\p{ExtPict}\p{EMod}?\ufe0f?)*|[0-9#*]\ufe0f\u20e3)|[\p{Cc}\p{Cf}\p{DI}\u2028\u2029]|\p{M}(?<=\p{M}{9}|(?<![\p{L}\p{N}\p{S}\p{M}])\p{M})\p{M}*/gu;
// Spaces that are not the usual one, and the blank of Braille: in a sentence they are layout, in a
// name they pass for another name. The wide space of Chinese and Japanese can be told apart.
const oddSpaces = () => /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800]/g;
const controls = () => /\p{Cc}/gu;

const ORDINARY = /^[ -~]*$/;

/**
 * A name or message on one line, safe to show: control characters become `\x1b`, `\u202e` or
 * `\u{e0041}`.
 */
export function escapeName(text: string): string {
  if (ORDINARY.test(text)) return text;
  return text
    .replace(emojiOrUnsafe(), (found, emoji) => emoji ?? escapeAll(found))
    .replace(oddSpaces(), escapeCharacter);
}

/** A text of several lines, safe to show: as {@link escapeName}, but tabs and line ends stay. */
export function escapeText(text: string): string {
  if (ORDINARY.test(text)) return text;
  return text.replace(emojiOrUnsafe(), (found, emoji, index: number) =>
    isLayout(found, text, index) ? found : (emoji ?? escapeAll(found)),
  );
}

/**
 * A name for a program that reads line by line: exact, but for control characters, which would end
 * the line or reach a terminal further down the pipe. ZooKeeper allows none of them in names, so
 * that every real name stays as it is.
 */
export function escapeControls(text: string): string {
  return ORDINARY.test(text) ? text : text.replace(controls(), escapeCharacter);
}

/** As {@link escapeControls} for a text of several lines: tabs and line ends stay. */
export function escapeTextControls(text: string): string {
  return text.replace(controls(), (found, index: number) =>
    isLayout(found, text, index) ? found : escapeCharacter(found),
  );
}

/** JSON text that is safe to show and still the same JSON. */
export function escapeJson(json: string): string {
  if (ORDINARY.test(json)) return json;
  return json.replace(emojiOrUnsafe(), (found, emoji) => emoji ?? jsonEscape(found));
}

function isLayout(found: string, text: string, index: number): boolean {
  return found === "\t" || found === "\n" || (found === "\r" && text[index + 1] === "\n");
}

function escapeAll(characters: string): string {
  return Array.from(characters, escapeCharacter).join("");
}

function escapeCharacter(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x100) return `\\x${hex(point, 2)}`;
  return point < 0x10000 ? `\\u${hex(point, 4)}` : `\\u{${hex(point, 0)}}`;
}

/** JSON has escapes of four digits only: a higher code point becomes a surrogate pair. */
function jsonEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${hex(character.charCodeAt(i), 4)}`,
  ).join("");
}

function hex(number: number, width: number): string {
  return number.toString(16).padStart(width, "0");
}
