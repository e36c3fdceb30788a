/** Reads the text of a Java properties file, by the rules of java.util.Properties. */

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

/** One property, and where it is written. */
export interface PlacedProperty {
  readonly name: string;
  readonly value: string;
  /** The file or the variable. */
  readonly where: string;
}

/** As messages name it. */
export function placeOf({ name, where }: PlacedProperty): string {
  return `${name} in ${where}`;
}

/** In their order. To Java the last of two values for one name counts. */
export function parseProperties(text: string): (readonly [name: string, value: string])[] {
  return logicalLines(text).map(parseLine);
}

/**
 * Without blank lines and comments; a line that ends with a backslash goes on in the next one,
 * without its indentation.
 */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let open: string | undefined;
  for (const natural of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    const line = natural.replace(/^[ \t\f]+/, "");
    // A comment never continues on the next line, and a continuation line is never a comment, even
    // if it starts with # or !.
    if (open === undefined && /^([#!]|$)/.test(line)) continue;
    const whole: string = (open ?? "") + line;
    const isContinued = (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;
    open = isContinued ? whole.slice(0, -1) : undefined;
    if (!isContinued) lines.push(whole);
  }
  if (open !== undefined) lines.push(open);
  return lines;
}

/**
 * The name ends at the first `=`, `:` or blank that is not escaped; blanks around the separator
 * belong to neither side.
 */
function parseLine(line: string): [name: string, value: string] {
  const [, name = "", value = ""] =
    /^((?:\\.|[^=: \t\f\\])*)[ \t\f]*[=:]?[ \t\f]*(.*)$/s.exec(line) ?? [];
  return [withoutEscapes(name), withoutEscapes(value)];
}

function withoutEscapes(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|(.)|$)/gs,
    (_, hex: string | undefined, letter = "") =>
      hex === undefined
        ? (ESCAPES[letter] ?? letter)
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
