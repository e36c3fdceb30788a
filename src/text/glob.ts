/** Patterns of file names: `*` any text, `?` one character, `[abc]` and `[!a-z]` one of a set. */

/** The characters with a meaning in patterns. */
export const GLOB_CHARACTERS = /[*?[]/;

/** True if a character of the pattern has a meaning: not after a backslash, a [ only with its ]. */
export function hasGlob(pattern: string): boolean {
  return /[*?]|\[[!^]?[\s\S][^\]]*\]/.test(pattern.replace(/\\./gs, ""));
}

/** The text that a pattern without {@link hasGlob} matches. */
export function unescapeGlob(pattern: string): string {
  return pattern.replace(/\\(.)/gs, "$1");
}

/** The pattern that only this text matches. */
export function literalGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, "\\$&");
}

type Token =
  | { readonly kind: "any" }
  | { readonly kind: "one"; readonly matches: (character: string) => boolean };

/**
 * Tells whether a whole name matches. Takes at most as many steps as the name is long times the
 * pattern: a name from the server cannot make it slow.
 */
export function globMatcher(pattern: string): (name: string) => boolean {
  const tokens = tokensOf([...pattern]);
  return (name) => matches(tokens, [...name]);
}

function tokensOf(pattern: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] as string;
    if (character === "*") {
      if (tokens.at(-1)?.kind !== "any") tokens.push({ kind: "any" });
    } else if (character === "?") tokens.push({ kind: "one", matches: () => true });
    else if (character === "\\" && i + 1 < pattern.length)
      tokens.push(literal(pattern[++i] as string));
    else if (character === "[") {
      // The first character of a set may be the bracket itself.
      const start = pattern[i + 1] === "!" || pattern[i + 1] === "^" ? i + 2 : i + 1;
      const end = pattern.indexOf("]", start + 1);
      if (end < 0) tokens.push(literal(character));
      else {
        tokens.push(set(pattern.slice(start, end), start > i + 1));
        i = end;
      }
    } else tokens.push(literal(character));
  }
  return tokens;
}

function literal(expected: string): Token {
  return { kind: "one", matches: (character) => character === expected };
}

function set(members: readonly string[], isNegated: boolean): Token {
  const ranges: [string, string][] = [];
  for (let i = 0; i < members.length; i++) {
    const from = members[i] as string;
    const to = members[i + 1] === "-" ? members[i + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) i += 2;
  }
  return {
    kind: "one",
    matches: (character) =>
      ranges.some(([from, to]) => from <= character && character <= to) !== isNegated,
  };
}

/** On a mismatch the last `*` takes one more character; earlier ones need not be looked at again. */
function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const current = tokens[token];
    if (current?.kind === "any") {
      star = token++;
      starAt = at;
    } else if (current?.matches(name[at] as string)) {
      token += 1;
      at += 1;
    } else if (star >= 0) {
      token = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (tokens[token]?.kind === "any") token += 1;
  return token === tokens.length;
}
