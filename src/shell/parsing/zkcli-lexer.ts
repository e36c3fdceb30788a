/**
 * zkCli's way of splitting lines, for scripts written for it: a quote counts only where it
 * surrounds a whole word, and there are no escapes, no comments and no `;`. A quote that is never
 * closed is dropped.
 */
import type { Statement, Word } from "./lexer.ts";
import { decodeText, type ScriptText } from "./script-text.ts";

// Java's \s, which knows ASCII only. The rest is zkCli's own expression, with what comes of its
// backtracking: a line of blanks is one word of one blank.
const WORD = /[ \t\n\v\f\r]*([^"'][^ \t\n\v\f\r]*|"[^"]*"|'[^']*')[ \t\n\v\f\r]*/g;

/** Statements wait until it is their turn: a long text is not taken apart as a whole. */
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

/** As {@link readStatements} does for our own lines: every line that has a word is a statement. */
export async function* readZkcliStatements(text: ScriptText): AsyncGenerator<readonly Statement[]> {
  let waiting = "";
  let line = 0;
  for await (const piece of decodeText(text)) {
    waiting += piece;
    // A carriage return at the end may be the first half of a line end.
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
