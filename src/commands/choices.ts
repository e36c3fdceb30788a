/** Words out of a few, which the prompt completes. */
import { UsageError } from "../errors.ts";
import type { ValueParser } from "./arguments.ts";

interface Choices {
  readonly choices: readonly string[];
}

/** The same parser, with the words that are offered for it. It may take others. */
export function offering<T>(choices: readonly string[], parse: ValueParser<T>): ValueParser<T> {
  const own: ValueParser<T> = (text, where) => parse(text, where);
  return Object.assign(own, { choices } satisfies Choices);
}

/** One of the words; `what` names them in the error. */
export function oneOf<T extends string>(choices: readonly T[], what: string): ValueParser<T> {
  return offering(choices, (text) => {
    const found = choices.find((known) => known === text);
    if (found !== undefined) return found;
    throw new UsageError(`unknown ${what} '${text}'`, { hint: `use one of ${choices.join(", ")}` });
  });
}

/** Empty for a parser without such words. */
export function choicesOf(parse: ValueParser<unknown>): readonly string[] {
  return (parse as Partial<Choices>).choices ?? [];
}
