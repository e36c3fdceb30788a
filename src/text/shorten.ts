/**
 * Shortens a text to `length` characters, the last one `…` if something was cut off. Never splits a
 * surrogate pair.
 */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
