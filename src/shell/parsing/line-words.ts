/**
 * Replaces the variables in the words of a statement, and marks the words that are more or less
 * than their text: the value of a variable is never an option, `-`, `@file` or a glob.
 */
import { slot } from "../../commands/inner-line.ts";
import { UsageError } from "../../errors.ts";
import { GLOB_CHARACTERS, literalGlob } from "../../text/glob.ts";
import { refuseOwnName, type Variables } from "../variables.ts";
import { piecesOf, type Statement, type Word } from "./lexer.ts";
import type { LineWords, MarkedWord } from "./marked-words.ts";
import { commandIndex } from "./split-globals.ts";

/** `$name`, `${name}` and `$?`; a `$` before anything else is text. */
const VARIABLE = /\$(?:([A-Za-z_]\w*|\?)|\{([A-Za-z_]\w*|\?)\}|(\{))/g;
const NAME = /^[A-Za-z_]\w*$/;
const MARK = "\0";

/** True if `$?` is in the statement: what it says is known when the lines before it have ended. */
export function asksExitCode({ source }: Statement): boolean {
  return /\$(?:\?|\{\?)/.test(source);
}

/** The words of a line behind `NAME =`; the same list for a line without. */
export function withoutAssignment(words: readonly Word[]): readonly Word[] {
  const [first, equals] = words;
  const isAssignment =
    equals?.text === "=" && !equals.pieces && !first?.pieces && NAME.test(first?.text ?? "");
  return isAssignment ? words.slice(2) : words;
}

/** `NAME = LINE` → the name and the line. Throws UsageError for a line that is missing. */
function splitAssignment(statement: Statement): {
  readonly name?: string;
  readonly statement: Statement;
} {
  const words = withoutAssignment(statement.words);
  if (words === statement.words) return { statement };
  const name = statement.words[0]?.text ?? "";
  refuseOwnName(name);
  if (words.length === 0)
    throw new UsageError(`there is no line after ${name} =`, { hint: `${name} = get /path` });
  return { name, statement: { ...statement, words } };
}

/** A statement as it is run: its words, and where its results go. */
export interface ReadLine extends LineWords {
  /** `NAME = LINE`. */
  readonly name?: string | undefined;
  /** `LINE | COMMAND`. */
  readonly pipe?: string | undefined;
}

/** Throws UsageError for a variable without a value, or an assignment without a line. */
export function readLine(statement: Statement, variables: Variables): ReadLine {
  const { pipe } = statement;
  const { name, statement: line } = splitAssignment(statement);
  const words = lineWords(line, variables);
  return name === undefined && pipe === undefined ? words : { ...words, name, pipe };
}

/** Throws UsageError for a variable without a value. */
function lineWords(statement: Statement, variables: Variables): LineWords {
  const { words, source } = statement;
  if (!source.includes("$") && words.every(({ pieces }) => pieces === undefined))
    return { words: words.map(({ text }) => text) };
  return new Expansion(statement, variables).run();
}

class Expansion {
  readonly #statement: Statement;
  readonly #variables: Variables;
  readonly #marks = new Map<string, MarkedWord>();

  constructor(statement: Statement, variables: Variables) {
    this.#statement = statement;
    this.#variables = variables;
  }

  run(): LineWords {
    const written = this.#statement.words;
    const end = written.findIndex(({ text, pieces }) => text === "--" && pieces === undefined);
    const words = written.map((word, index) => this.#expand(word, end >= 0 && index > end));
    if (this.#marks.size === 0) return { words };
    const command = words[commandIndex(words)] ?? "";
    if (this.#marks.get(command)?.isLiteral)
      throw new UsageError("a variable cannot be the command of a line", {
        hint: "write the command's name",
      });
    return { words, marks: this.#marks };
  }

  #expand(word: Word, isBehindOptions: boolean): string {
    let text = "";
    let glob = "";
    let template = "";
    const values: string[] = [];
    let isLiteral = false;
    let hasVariables = false;
    for (const { text: written, kind } of piecesOf(word)) {
      let from = 0;
      const add = (plain: string) => {
        text += plain;
        template += plain;
        glob += kind === "plain" ? plain : literalGlob(plain);
      };
      for (const found of kind === "literal" ? [] : written.matchAll(VARIABLE)) {
        const [spelling] = found;
        add(written.slice(from, found.index));
        from = found.index + spelling.length;
        hasVariables = true;
        if (text === "") isLiteral = true;
        if (!isBehindOptions && !isLiteral) refuseOptionName(text, word.text);
        const value = this.#valueOf(found, word);
        text += value;
        template += slot(values.length);
        values.push(value);
        glob += literalGlob(value);
      }
      add(written.slice(from));
    }
    const isQuotedGlob = word.pieces !== undefined && GLOB_CHARACTERS.test(text);
    if (!hasVariables && !isQuotedGlob && !text.startsWith(MARK)) return text;
    // An option with its value is one word, and only the part behind the = is from a variable.
    if (!isLiteral && !isBehindOptions && /^-./.test(text)) return text;
    const mark = `${MARK}${this.#marks.size}`;
    const marked = { text, isLiteral, glob };
    this.#marks.set(
      mark,
      hasVariables ? { ...marked, template: { text: template, values } } : marked,
    );
    return mark;
  }

  #valueOf([spelling, bare, braced]: RegExpExecArray | RegExpMatchArray, word: Word): string {
    const name = bare ?? braced;
    const value = name === undefined ? undefined : this.#variables.get(name);
    if (value !== undefined) return value;
    const { words, source } = this.#statement;
    const wordAt = word.start - (words[0]?.start ?? 0);
    const column = source.indexOf(spelling, Math.max(0, wordAt)) + 1;
    const place = `character ${column} of the line`;
    if (name === undefined)
      throw new UsageError(`\${ without a name and } at ${place}`, {
        reason: "undefined-variable",
        hint: "write a $ that is text in single quotes",
      });
    throw new UsageError(`the variable ${name} has no value (${place})`, {
      reason: "undefined-variable",
      hint: `set it with ${name} = LINE; write a $ that is text in single quotes`,
    });
  }
}

/** The value of an option may come from a variable; which option it is, may not. */
export function refuseOptionName(before: string, written: string): void {
  if (!/^-/.test(before) || before.includes("=")) return;
  throw new UsageError(`the name of an option cannot come from a variable: ${written}`, {
    hint: "put a blank or = between the option and its value",
  });
}
