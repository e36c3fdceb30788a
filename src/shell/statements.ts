import { UsageError } from "../errors.ts";
import { lex, type Statement } from "./line.ts";

/** Where a script comes from, piece by piece: statements are run as soon as they are complete. */
export type ScriptText = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

const QUOTE = /['"]/;
/** In characters; parts end where lines do. */
const PART_LENGTH = 4_096;

export class UnclosedQuoteError extends UsageError {
  readonly line: number;

  constructor(quote: string, line: number, column: number) {
    super(`a quote (${quote}) is opened and never closed: line ${line}, column ${column}`, {
      reason: "unclosed-quote",
    });
    this.line = line;
  }
}

/**
 * The statements of a script in groups that are complete together, their lines counted through. Throws UsageError at a quote
 * that is never closed, before anything that came in one piece with it is run.
 */
export async function* readStatements(text: ScriptText): AsyncGenerator<readonly Statement[]> {
  let waiting = "";
  let nextLine = 1;
  pieces: for await (const piece of decodeText(text)) {
    waiting += piece;
    const end = waiting.lastIndexOf("\n") + 1;
    if (end === 0) continue;
    const complete = waiting.slice(0, end);
    for (const part of QUOTE.test(complete) ? [complete] : cut(complete)) {
      const { statements, unclosed } = lex(part, nextLine);
      // The next piece may close the quote.
      if (unclosed) continue pieces;
      yield statements;
      for (let at = part.indexOf("\n"); at >= 0; at = part.indexOf("\n", at + 1)) nextLine++;
    }
    waiting = waiting.slice(end);
  }
  const { statements, unclosed } = lex(waiting, nextLine);
  if (unclosed) throw new UnclosedQuoteError(unclosed.quote, unclosed.line, unclosed.column);
  yield statements;
}

/** Some lines at a time: the statements of a long text need not all be in memory. Not for text in which a quote may span lines. */
function* cut(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start + PART_LENGTH) + 1 || text.length;
    yield text.slice(start, end);
    start = end;
  }
}

/** The pieces as text, also where a character is cut in two. */
export async function* decodeText(text: ScriptText): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of text) yield typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  yield decoder.decode();
}
