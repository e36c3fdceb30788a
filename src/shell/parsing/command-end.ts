/**
 * Where a command of the system shell ends that is part of a line: at a `;`, a line end or a
 * comment that the shell would not take for a part of it.
 */

export interface CommandEnd {
  readonly end: number;
  /** Where a quote is opened that is never closed. */
  readonly unclosedAt?: number;
}

/** The text up to the next character that has a meaning here. */
const ORDINARY = /[^\\'"();\n#]+/y;
const IN_DOUBLE_QUOTES = /(?:[^"\\]+|\\[\s\S])*/y;

/**
 * Quotes, backslashes and parentheses hide a `;`. A line end in parentheses ends the command all
 * the same, so that a forgotten one does not swallow a script.
 */
export function commandEnd(text: string, start: number): CommandEnd {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const char = text[at];
    if (char === "\n" || (char === ";" && depth === 0)) return { end: at };
    if (char === "#" && /[\s;(|]/.test(text[at - 1] ?? " ")) return { end: at };
    if (char === "\\") at += 2;
    else if (char === "'" || char === '"') {
      const close =
        char === "'" ? text.indexOf("'", at + 1) : after(IN_DOUBLE_QUOTES, text, at + 1);
      if (close < 0 || close >= text.length) return { end: text.length, unclosedAt: at };
      at = close + 1;
    } else {
      if (char === "(") depth++;
      else if (char === ")") depth = Math.max(0, depth - 1);
      at = Math.max(at + 1, after(ORDINARY, text, at));
    }
  }
  return { end: text.length };
}

/** The position behind the expression's match at `at`. */
function after(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return at + (expression.exec(text)?.[0].length ?? 0);
}
