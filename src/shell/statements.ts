import { UsageError } from "../errors.ts";
import { lex, type Statement } from "./line.ts";

/** Where a script comes from, piece by piece: statements are run as soon as they are complete. */
export type ScriptText = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

export class UnclosedQuoteError extends UsageError {
  readonly line: number;

  constructor(quote: string, line: number, column: number) {
    super(`a quote (${quote}) is opened and never closed: line ${line}, column ${column}`, {
      reason: "unclosed-quote",
    });
    this.line = line;
  }
}

/** The statements of a script, their lines counted through. Throws UsageError at a quote that is never closed. */
export async function* readStatements(text: ScriptText): AsyncGenerator<Statement> {
  let waiting = "";
  let linesBefore = 0;
  for await (const piece of decodeText(text)) {
    waiting += piece;
    const end = waiting.lastIndexOf("\n") + 1;
    if (end === 0) continue;
    const complete = waiting.slice(0, end);
    const { statements, unclosed } = lex(complete);
    // A quote is still open: the next piece may close it.
    if (unclosed) continue;
    for (const statement of statements) yield { ...statement, line: statement.line + linesBefore };
    linesBefore += complete.split("\n").length - 1;
    waiting = waiting.slice(end);
  }
  const { statements, unclosed } = lex(waiting);
  if (unclosed) {
    throw new UnclosedQuoteError(unclosed.quote, unclosed.line + linesBefore, unclosed.column);
  }
  for (const statement of statements) yield { ...statement, line: statement.line + linesBefore };
}

/** The pieces as text, also where a character is cut in two. */
export async function* decodeText(text: ScriptText): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of text) yield typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  yield decoder.decode();
}
