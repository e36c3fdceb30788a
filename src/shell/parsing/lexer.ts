/**
 * Splits text into statements at `;` and line ends, and statements into words; removes quotes and
 * comments.
 *
 * Single quotes keep everything; in double quotes a backslash escapes; adjacent pieces join. A
 * quote may span lines. Two exceptions make pasted zkCli lines work: a word that is valid JSON as
 * it stands keeps its quotes, and the `;` of a server specification (`reconfig -add
 * 4=zk4:2888:3888;2181`) does not end the statement.
 */

import { commandIndex } from "./split-globals.ts";

export interface Word {
  readonly text: string;
  /** Its place in the text, with its quotes. */
  readonly start: number;
  readonly end: number;
}

export interface Statement {
  readonly words: readonly Word[];
  /** The text of the statement. */
  readonly source: string;
  /** The line of its first word, counted from 1. */
  readonly line: number;
}

export interface Lexed {
  readonly statements: readonly Statement[];
  /** An open quote that is never closed: the last statement is then incomplete. */
  readonly unclosed?: { readonly quote: string; readonly line: number; readonly column: number };
}

/** The escapes in double quotes. A backslash before another character stands for that character. */
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0" };

const PLAIN_LINE = /^[^\s;'"#]+(?: [^\s;'"#]+)*$/;

/** `firstLine` is the number of the text's first line. */
export function lex(text: string, firstLine = 1): Lexed {
  return new Lexer(text, firstLine).run();
}

class Lexer {
  readonly #text: string;
  readonly #statements: Statement[] = [];
  #position = 0;
  #words: Word[] = [];
  #unclosedAt: number | undefined;
  /** The line ends counted so far, so that each is counted once. */
  readonly #counted: { upTo: number; lines: number };
  /**
   * Runs of blanks and of plain characters are matched at once, because a script has few others.
   */
  readonly #blanks = /[^\S\n]+/y;
  readonly #plain = /[^\s;'"]+/y;
  /** A character by its code point, as escaped names are printed: `\x1b`, `\u200b`, `\u{e0041}`. */
  readonly #numbered = /(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{(10[0-9a-f]{4}|[0-9a-f]{1,5})\})/iy;

  constructor(text: string, firstLine: number) {
    this.#text = text;
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
    else if (this.#take(this.#blanks) === "") this.#readWord();
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
    let text = "";
    for (
      let char = this.#text[start];
      char !== undefined && !this.#endsWord(char);
      char = this.#text[this.#position]
    ) {
      if (char === "'" || char === '"') text += this.#readQuoted(char);
      else if (char === ";") {
        text += char;
        this.#position++;
      } else text += this.#take(this.#plain);
    }
    const end = this.#position;
    const raw = this.#text.slice(start, end);
    this.#words.push({ text: isJson(raw) ? raw : text, start, end });
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

  #readQuoted(quote: string): string {
    const opened = this.#position++;
    let text = "";
    for (
      let char = this.#text[this.#position];
      char !== undefined;
      char = this.#text[this.#position]
    ) {
      this.#position++;
      if (char === quote) return text;
      if (char === "\\" && quote === '"') {
        text += this.#readEscape();
      } else text += char;
    }
    this.#unclosedAt = opened;
    return text;
  }

  #readEscape(): string {
    const [all = "", ...digits] = this.#match(this.#numbered) ?? [];
    this.#position += Math.max(all.length, 1);
    if (all !== "") return String.fromCodePoint(Number.parseInt(digits.join(""), 16));
    const escaped = this.#text[this.#position - 1] ?? "";
    return ESCAPES[escaped] ?? escaped;
  }

  #endStatement(): void {
    const first = this.#words[0];
    const last = this.#words.at(-1);
    if (first === undefined || last === undefined) return;
    const source = this.#text.slice(first.start, last.end);
    this.#statements.push({ words: this.#words, source, line: this.#lineAt(first.start) });
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
