import { escapeName } from "./escape.ts";

/**
 * A word quoted so that the shell's lexer reads it back as it is; only where it must be. Characters
 * that are escaped where names are shown are escaped here too: the line is shown while it is
 * edited. What a Unix shell would expand is quoted as well, because people paste such a line there.
 */
export function quoteWord(word: string): string {
  const isSafe = escapeName(word) === word;
  if (isSafe && word !== "" && !/[\s;'"\\#$`&|<>()*?!~[\]{}]/.test(word)) return word;
  if (isSafe && !word.includes("'")) return `'${word}'`;
  return `"${escapeName(word.replace(/[\\"$`]/g, "\\$&"))}"`;
}
