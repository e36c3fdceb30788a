/**
 * At most `length` characters, the last of them `…` where something was cut off; never half a
 * surrogate pair.
 */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
