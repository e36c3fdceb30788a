// C0 and DEL; C1, which some terminals obey too; line separators; marks that reverse the direction of text.
// A function, because V8 builds the set of a \p as soon as it comes by one, and most of what is written has no names in it.
const unsafe = () => /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A name or message on one line, safe to show: control characters become `\x1b` or `\u202e`. */
export function escapeName(text: string): string {
  return text.replace(unsafe(), (unit) => escapeUnit(unit));
}

/** A text of several lines, safe to show: as {@link escapeName}, but tabs and line ends stay. */
export function escapeText(text: string): string {
  return text.replace(unsafe(), (unit, index: number) => {
    const isLayout = unit === "\t" || unit === "\n" || (unit === "\r" && text[index + 1] === "\n");
    return isLayout ? unit : escapeUnit(unit);
  });
}

/** JSON text that is safe to show and still the same JSON. */
export function escapeJson(json: string): string {
  return json.replace(unsafe(), (unit) => `\\u${hex(unit, 4)}`);
}

function escapeUnit(unit: string): string {
  return unit.charCodeAt(0) < 0x100 ? `\\x${hex(unit, 2)}` : `\\u${hex(unit, 4)}`;
}

function hex(unit: string, width: number): string {
  return unit.charCodeAt(0).toString(16).padStart(width, "0");
}
