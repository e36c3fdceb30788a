/**
 * zkCli's way of splitting lines, for scripts written for it: a quote counts only where it surrounds a whole word, and
 * there are no escapes, no comments and no `;`. A quote that is never closed is dropped.
 */
import type { Statement, Word } from "./line.ts";
import { decodeText, type ScriptText } from "./statements.ts";

// Java's \s, which knows ASCII only. The rest is zkCli's own expression, with what comes of its backtracking: a line of
// blanks is one word of one blank.
const WORD = /[ \t\n\v\f\r]*([^"'][^ \t\n\v\f\r]*|"[^"]*"|'[^']*')[ \t\n\v\f\r]*/g;

export function zkcliWords(line: string): Word[] {
  return [...line.matchAll(WORD)].map((match) => {
    const [whole, raw = ""] = match;
    const start = match.index + whole.indexOf(raw);
    return { text: /^(['"]).*\1$/s.test(raw) ? raw.slice(1, -1) : raw, start, end: start + raw.length };
  });
}

/** As {@link readStatements} does for our own lines: every line that has a word is a statement. */
export async function* readZkcliStatements(text: ScriptText): AsyncGenerator<Statement> {
  let waiting = "";
  let line = 0;
  for await (const piece of decodeText(text)) {
    waiting += piece;
    // A carriage return at the end may be the first half of a line end.
    const lines = waiting.split(/\r\n|\n|\r(?!$)/);
    waiting = lines.pop() ?? "";
    for (const source of lines) yield* statement(source, ++line);
  }
  yield* statement(waiting.replace(/\r$/, ""), ++line);
}

function* statement(source: string, line: number): Generator<Statement> {
  const words = zkcliWords(source);
  if (words.length > 0) yield { words, source, line };
}
