/**
 * Splits lines like zkCli, for its scripts: a quote counts only around a whole word, and there are
 * no escapes, no comments and no `;`. A quote that is never closed is dropped.
 */
import type { Statement, Word } from "./lexer.ts";
import { decodeText, type ScriptText } from "./script-text.ts";

// Java's \s has ASCII only. The rest is the expression of zkCli itself, with the effect of its
// backtracking: a line of blanks is one word of one blank.
const WORD = /[ \t\n\v\f\r]*([^"'][^ \t\n\v\f\r]*|"[^"]*"|'[^']*')[ \t\n\v\f\r]*/g;

/** A long text is split in groups of this many lines, not as a whole. */
const LINES_PER_GROUP = 200;

export function zkcliWords(line: string): Word[] {
  return [...line.matchAll(WORD)].map((match) => {
    const [whole, raw = ""] = match;
    const start = match.index + whole.indexOf(raw);
    return {
      text: /^(['"]).*\1$/s.test(raw) ? raw.slice(1, -1) : raw,
      start,
      end: start + raw.length,
    };
  });
}

/** Like {@link readStatements} for zkCli's syntax: every line with a word is a statement. */
export async function* readZkcliStatements(text: ScriptText): AsyncGenerator<readonly Statement[]> {
  let waiting = "";
  let line = 0;
  for await (const piece of decodeText(text)) {
    waiting += piece;
    // A carriage return at the end of a piece may be the first half of a line end.
    const lines = waiting.split(/\r\n|\n|\r(?!$)/);
    waiting = lines.pop() ?? "";
    for (let i = 0; i < lines.length; i += LINES_PER_GROUP) {
      const group = lines.slice(i, i + LINES_PER_GROUP);
      yield statements(group, line);
      line += group.length;
    }
  }
  yield statements([waiting.replace(/\r$/, "")], line);
}

function statements(lines: readonly string[], linesBefore: number): Statement[] {
  return lines
    .map((source, index) => ({ words: zkcliWords(source), source, line: linesBefore + index + 1 }))
    .filter(({ words }) => words.length > 0);
}
