import type { LineTemplate } from "../../commands/inner-line.ts";

/** A word whose text does not tell how it was written. */
export interface MarkedWord {
  readonly text: string;
  /** It begins with the value of a variable: it is text, even if it looks like an option. */
  readonly isLiteral: boolean;
  /** The word as a glob, in which quoted characters and those of variables have no meaning. */
  readonly glob: string;
  /** Left out for a word without variables. */
  readonly template?: LineTemplate | undefined;
}

/**
 * The marked words of a line by the words that stand for them. Each begins with a NUL, so that the
 * parsers take it neither for an option nor for anything else.
 */
export type Marks = ReadonlyMap<string, MarkedWord>;

export interface LineWords {
  readonly words: readonly string[];
  /** Undefined where no word is marked. */
  readonly marks?: Marks | undefined;
}

/** The word as it was written, or as its variables made it. */
export function textOf(word: string, marks: Marks | undefined): string {
  return marks?.get(word)?.text ?? word;
}
