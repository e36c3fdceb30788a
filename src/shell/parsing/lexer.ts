/**
 * Splits text into statements at `;` and line ends, and statements into words; removes quotes and
 * comments.
 *
 * Single quotes keep everything; in double quotes a backslash escapes; adjacent pieces join. A
 * quote may span lines. Two exceptions make pasted zkCli lines work: a word that is valid JSON as
 * it stands keeps its quotes, and the `;` of a server specification (`reconfig -add
 * 4=zk4:2888:3888;2181`) does not end the statement.
 *
 * With pipes, a `|` that begins a word behind the first one ends the words: the rest of the
 * statement is a command of the system shell. Elsewhere in a word (`a|b`) it is text.
 */

import { commandEnd } from "./command-end.ts";
import { commandIndex } from "./split-globals.ts";

export interface Word {
  readonly text: string;
  /** Its place in the text, with its quotes. */
  readonly start: number;
  readonly end: number;
  /** What its parts were written in. Undefined for a word without quotes: all of it is plain. */
  readonly pieces?: readonly WordPiece[];
}

/** A part of a word. The texts of the pieces make up the text of the word. */
export interface WordPiece {
  readonly text: string;
  readonly kind: PieceKind;
}

/**
 * `plain`: outside quotes. `double`: in double quotes, where only variables have a meaning.
 * `literal`: in single quotes, escaped by a backslash, or in a word that is JSON; nothing in it has
 * a meaning.
 */
type PieceKind = "plain" | "double" | "literal";

/** The pieces of a word, also of one without quotes. */
export function piecesOf({ text, pieces }: Word): readonly WordPiece[] {
  return pieces ?? [{ text, kind: "plain" }];
}

export interface Statement {
  readonly words: readonly Word[];
  /** The text of the statement. */
  readonly source: string;
  /** The line of its first word, counted from 1. */
  readonly line: number;
  /** The text after a `|`, exactly as it was written: a command of the system shell. */
  readonly pipe?: string;
}

export interface Lexed {
  readonly statements: readonly Statement[];
  /** An open quote that is never closed: the last statement is then incomplete. */
  readonly unclosed?: { readonly quote: string; readonly line: number; readonly column: number };
}

/** The escapes in double quotes. A backslash before another character stands for that character. */
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0" };

const PLAIN_LINE = /^[^\s;'"#]+(?: [^\s;'"#|][^\s;'"#]*)*$/;

export interface LexOptions {
  /** The number of the text's first line. */
  readonly firstLine?: number;
  /** A `|` that begins a word begins a command of the system shell. */
  readonly hasPipes?: boolean;
}

export function lex(text: string, options: LexOptions = {}): Lexed {
  return new Lexer(text, options).run();
}

class Lexer {
  readonly #text: string;
  readonly #statements: Statement[] = [];
  #position = 0;
  #words: Word[] = [];
  /** The pieces of the word that is being read. */
  #pieces: WordPiece[] = [];
  readonly #hasPipes: boolean;
  #unclosedAt: number | undefined;
  /** The line ends counted so far, so that each is counted once. */
  readonly #counted: { upTo: number; lines: number };
  /**
   * Runs of blanks and of plain characters are matched at once, because a script has few others.
   */
  readonly #blanks = /[^\S\n]+/y;
  readonly #plain = /[^\s;'"]+/y;
  readonly #inDoubleQuotes = /[^"\\]+/y;
  readonly #inSingleQuotes = /[^']+/y;
  /** A character by its code point, as escaped names are printed: `\x1b`, `\u200b`, `\u{e0041}`. */
  readonly #numbered = /(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{(10[0-9a-f]{4}|[0-9a-f]{1,5})\})/iy;

  constructor(text: string, { firstLine = 1, hasPipes = false }: LexOptions) {
    this.#text = text;
    this.#hasPipes = hasPipes;
    this.#counted = { upTo: 0, lines: firstLine };
  }

  run(): Lexed {
    while (this.#position < this.#text.length) {
      if (this.#words.length > 0 || !this.#readPlainLine()) this.#step();
    }
    this.#endStatement();
    if (this.#unclosedAt === undefined) return { statements: this.#statements };
    const before = this.#text.slice(0, this.#unclosedAt);
    const column = this.#unclosedAt - before.lastIndexOf("\n");
    const unclosed = {
      quote: this.#text[this.#unclosedAt] ?? "",
      line: this.#lineAt(this.#unclosedAt),
      column,
    };
    return { statements: this.#statements, unclosed };
  }

  /**
   * Reads a line that is only words with one blank between them, as most lines of long scripts.
   * Returns false for other lines.
   */
  #readPlainLine(): boolean {
    const start = this.#position;
    const end = this.#text.indexOf("\n", start);
    const source = this.#text.slice(start, end < 0 ? undefined : end);
    if (!PLAIN_LINE.test(source)) return false;
    let at = start;
    for (const text of source.split(" ")) {
      this.#words.push({ text, start: at, end: at + text.length });
      at += text.length + 1;
    }
    this.#endStatement();
    this.#position = at;
    return true;
  }

  #step(): void {
    const char = this.#text[this.#position] ?? "";
    if (char === "\n" || char === ";") {
      this.#endStatement();
      this.#position++;
    } else if (char === "#") this.#skipComment();
    else if (char === "|" && this.#hasPipes && this.#words.length > 0) this.#readPipe();
    else if (this.#take(this.#blanks) === "") this.#readWord();
  }

  /** The end of a pipe's command is found by the rules of the system shell, which will read it. */
  #readPipe(): void {
    const start = this.#position + 1;
    const { end, unclosedAt } = commandEnd(this.#text, start);
    this.#unclosedAt = unclosedAt;
    this.#position = end;
    this.#endStatement({ start, end });
  }

  /** Consumes and returns the match of the expression at this position, or "". */
  #take(expression: RegExp): string {
    const taken = this.#match(expression)?.[0] ?? "";
    this.#position += taken.length;
    return taken;
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#position;
    return expression.exec(this.#text);
  }

  #skipComment(): void {
    const end = this.#text.indexOf("\n", this.#position);
    this.#position = end < 0 ? this.#text.length : end;
  }

  #readWord(): void {
    const start = this.#position;
    this.#pieces = [];
    for (
      let char = this.#text[start];
      char !== undefined && !this.#endsWord(char);
      char = this.#text[this.#position]
    ) {
      if (char === "'" || char === '"') this.#readQuoted(char);
      else if (char === ";") {
        this.#add(char, "plain");
        this.#position++;
      } else this.#add(this.#take(this.#plain), "plain");
    }
    const end = this.#position;
    const raw = this.#text.slice(start, end);
    if (isJson(raw)) this.#pieces = [{ text: raw, kind: "literal" }];
    const pieces = this.#pieces;
    const text = pieces.map((piece) => piece.text).join("");
    const isPlain = pieces.every(({ kind }) => kind === "plain");
    this.#words.push({ text, start, end, ...(!isPlain && { pieces }) });
  }

  #add(text: string, kind: PieceKind): void {
    const last = this.#pieces.at(-1);
    if (last?.kind !== kind) this.#pieces.push({ text, kind });
    else this.#pieces[this.#pieces.length - 1] = { text: last.text + text, kind };
  }

  #endsWord(char: string): boolean {
    if (char !== ";") return /\s/.test(char);
    const isServerSpec =
      this.#commandWord() === "reconfig" && /[^\s;]/.test(this.#text[this.#position + 1] ?? " ");
    return !isServerSpec;
  }

  /** The command word of the statement: options of the program may come before it. */
  #commandWord(): string | undefined {
    const words = this.#words.map(({ text }) => text);
    return words[commandIndex(words)];
  }

  #readQuoted(quote: string): void {
    const opened = this.#position++;
    const kind = quote === '"' ? "double" : "literal";
    // An empty pair of quotes makes a word, too.
    this.#add("", kind);
    const text = quote === '"' ? this.#inDoubleQuotes : this.#inSingleQuotes;
    while (this.#position < this.#text.length) {
      const taken = this.#take(text);
      if (taken !== "") this.#add(taken, kind);
      else if (this.#text[this.#position++] === quote) return;
      else this.#add(this.#readEscape(), "literal");
    }
    this.#unclosedAt = opened;
  }

  #readEscape(): string {
    const [all = "", ...digits] = this.#match(this.#numbered) ?? [];
    this.#position += Math.max(all.length, 1);
    if (all !== "") return String.fromCodePoint(Number.parseInt(digits.join(""), 16));
    const escaped = this.#text[this.#position - 1] ?? "";
    return ESCAPES[escaped] ?? escaped;
  }

  #endStatement(piped?: { readonly start: number; readonly end: number }): void {
    const first = this.#words[0];
    const last = this.#words.at(-1);
    if (first === undefined || last === undefined) return;
    const pipe = piped && this.#text.slice(piped.start, piped.end).trim();
    const source = piped
      ? this.#text.slice(first.start, piped.end).trimEnd()
      : this.#text.slice(first.start, last.end);
    const line = this.#lineAt(first.start);
    this.#statements.push({
      words: this.#words,
      source,
      line,
      ...(pipe !== undefined && { pipe }),
    });
    this.#words = [];
  }

  #lineAt(position: number): number {
    const counted = this.#counted;
    for (
      let at = this.#text.indexOf("\n", counted.upTo);
      at >= 0 && at < position;
      at = this.#text.indexOf("\n", at + 1)
    ) {
      counted.lines++;
      counted.upTo = at + 1;
    }
    return counted.lines;
  }
}

function isJson(raw: string): boolean {
  if (!/^[[{].*["'].*[\]}]$/s.test(raw)) return false;
  try {
    JSON.parse(raw);
    return true;
  } catch {
    return false;
  }
}
