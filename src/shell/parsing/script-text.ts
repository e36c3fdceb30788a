import { UsageError } from "../../errors.ts";
import { type LexOptions, lex, type Statement } from "./lexer.ts";

/** The pieces of a script: a statement runs as soon as it is complete. */
export type ScriptText = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

const QUOTE = /['"]/;
/** The length of a part in characters; parts end at line ends. */
const PART_LENGTH = 4_096;

/** A script that cannot be parsed, with the place of the error. */
export class ScriptTextError extends UsageError {
  readonly line: number;

  constructor(message: string, line: number, details: ConstructorParameters<typeof UsageError>[1]) {
    super(message, details);
    this.line = line;
  }
}

export class UnclosedQuoteError extends ScriptTextError {
  constructor(quote: string, line: number, column: number) {
    const message = `a quote (${quote}) is opened and never closed: line ${line}, column ${column}`;
    super(message, line, { reason: "unclosed-quote" });
  }
}

/**
 * Yields the statements of a script in groups, with line numbers of the whole script. Throws
 * UsageError at a quote that is never closed, before any statement of the same piece runs.
 */
export async function* readStatements(
  text: ScriptText,
  options: Pick<LexOptions, "hasPipes"> = {},
): AsyncGenerator<readonly Statement[]> {
  let waiting = "";
  let nextLine = 1;
  pieces: for await (const piece of decodeText(text)) {
    waiting += piece;
    const end = waiting.lastIndexOf("\n") + 1;
    if (end === 0) continue;
    const complete = waiting.slice(0, end);
    for (const part of QUOTE.test(complete) ? [complete] : cut(complete)) {
      const { statements, unclosed } = lex(part, { ...options, firstLine: nextLine });
      // The next piece may close the quote.
      if (unclosed) continue pieces;
      yield statements;
      nextLine += countLines(part);
    }
    waiting = waiting.slice(end);
  }
  const { statements, unclosed } = lex(waiting, { ...options, firstLine: nextLine });
  if (unclosed) throw new UnclosedQuoteError(unclosed.quote, unclosed.line, unclosed.column);
  yield statements;
}

/**
 * Splits a long text into parts of some lines, so that not all statements are in memory. Not for
 * text in which a quote may span lines.
 */
function* cut(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start + PART_LENGTH) + 1 || text.length;
    yield text.slice(start, end);
    start = end;
  }
}

/**
 * Decodes the pieces as UTF-8; a character may span two pieces. Throws ScriptTextError for bytes
 * that are not UTF-8.
 */
export async function* decodeText(text: ScriptText): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  const decode = (bytes: Uint8Array, isLast: boolean) => {
    try {
      return decoder.decode(bytes, { stream: !isLast });
    } catch {
      throw notUtf8(bytes, line);
    }
  };
  for await (const piece of text) {
    const decoded = typeof piece === "string" ? piece : decode(piece, false);
    yield decoded;
    line += countLines(decoded);
  }
  yield decode(new Uint8Array(), true);
}

/** Invalid bytes are refused: replacing them would lose data silently. */
function notUtf8(bytes: Uint8Array, firstLine: number): ScriptTextError {
  const [before = ""] = new TextDecoder().decode(bytes).split("\uFFFD", 1);
  return new ScriptTextError("the script is not UTF-8", firstLine + countLines(before), {
    reason: "not-utf8",
    hint: "give binary data as @file, or on stdin of a single command",
  });
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
