/**
 * Reads JSON with comments and trailing commas, and knows where each value stands, so that
 * messages name line and column.
 */
import { UsageError } from "../../errors.ts";

export interface JsonNode {
  readonly value: JsonValue;
  /** Where the value begins. */
  readonly start: number;
}

export interface JsonMember extends JsonNode {
  readonly nameAt: number;
}

/** Objects are maps: a member may be called __proto__. */
type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonNode[]
  | ReadonlyMap<string, JsonMember>;

/** Throws UsageError with line and column. */
export function parseJsonWithComments(text: string, file: string): JsonNode {
  return new Parser(text, file).parse();
}

/** `FILE:3:14`, with columns counted in characters from 1. */
export function placeIn(text: string, file: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `${file}:${before.length}:${[...(before.at(-1) ?? "")].length + 1}`;
}

const BLANK = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them in its strings
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const WORD = /(?:true|false|null)(?!\w)/y;
/** Settings have four levels. */
const MAX_DEPTH = 20;

class Parser {
  readonly #text: string;
  readonly #file: string;
  #at = 0;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  parse(): JsonNode {
    const node = this.#node(0);
    this.#skip();
    if (this.#at < this.#text.length) throw this.#expected("the end of the file");
    return node;
  }

  #node(depth: number): JsonNode {
    this.#skip();
    const start = this.#at;
    const value = this.#value(depth);
    return { value, start };
  }

  #value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw this.#error("values are nested too deeply");
    if (this.#takes("{")) return this.#members(depth);
    if (this.#takes("[")) return this.#elements(depth);
    const literal = this.#match(STRING) ?? this.#match(NUMBER) ?? this.#match(WORD);
    if (literal === undefined) throw this.#expected("a value");
    return JSON.parse(literal);
  }

  #members(depth: number): ReadonlyMap<string, JsonMember> {
    const members = new Map<string, JsonMember>();
    while (!this.#closes("}")) {
      const nameAt = this.#at;
      const quoted = this.#match(STRING);
      if (quoted === undefined) throw this.#expected('a name in double quotes or "}"');
      const name: string = JSON.parse(quoted);
      if (members.has(name)) throw this.#error(`"${name}" is there twice`, nameAt);
      this.#skip();
      if (!this.#takes(":")) throw this.#expected('":"');
      members.set(name, { ...this.#node(depth + 1), nameAt });
      this.#separates("}");
    }
    return members;
  }

  #elements(depth: number): readonly JsonNode[] {
    const elements: JsonNode[] = [];
    while (!this.#closes("]")) {
      elements.push(this.#node(depth + 1));
      this.#separates("]");
    }
    return elements;
  }

  #closes(bracket: string): boolean {
    this.#skip();
    return this.#takes(bracket);
  }

  /** A comma, or the bracket that ends the list, which stays. */
  #separates(bracket: string): void {
    this.#skip();
    if (this.#takes(",") || this.#text[this.#at] === bracket) return;
    throw this.#expected(`"," or "${bracket}"`);
  }

  #skip(): void {
    this.#match(BLANK);
    if (this.#text.startsWith("/*", this.#at)) throw this.#error("the comment has no end");
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #expected(what: string): UsageError {
    const [next] = this.#text.slice(this.#at);
    const found = next === undefined ? "the end of the file" : JSON.stringify(next);
    return this.#error(`expected ${what}, found ${found}`);
  }

  #error(message: string, at = this.#at): UsageError {
    return new UsageError(`${placeIn(this.#text, this.#file, at)}: ${message}`, {
      hint: "--no-config starts zksh without the settings file",
    });
  }
}
