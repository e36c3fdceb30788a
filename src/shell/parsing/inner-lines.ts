/** Parses the lines that are arguments of a line: `txn 'create /a 1' 'set /b 2'`. */
import { findCommand } from "../../commands/command.ts";
import { fillSlots, type InnerLine, type InnerLineOptions } from "../../commands/inner-line.ts";
import { UsageError } from "../../errors.ts";
import { literalGlob } from "../../text/glob.ts";
import { refuseOptionName } from "./line-words.ts";
import type { LineWords, MarkedWord } from "./marked-words.ts";
import { type Invocation, parse } from "./parser.ts";
import { readStatements } from "./script-text.ts";

type Values = Invocation["args"];

/**
 * The statements of a text as {@link parse} reads them. `fetch` reads the values that come from
 * stdin or a file. Throws UsageError, which names the line.
 */
export async function parseInnerLines(
  text: string | Uint8Array,
  { entries, cwd, nameOf, values = [] }: InnerLineOptions,
  fetch: (values: Values) => Promise<Values>,
): Promise<InnerLine[]> {
  const lines: InnerLine[] = [];
  for await (const statements of readStatements([text])) {
    for (const { words, source, line } of statements) {
      const name = nameOf(line, fillSlots(source, values));
      try {
        const read = withValues(
          words.map((word) => word.text),
          values,
        );
        const [first = ""] = read.words;
        if (!findCommand(entries, first))
          throw notAllowed(fillSlots(words[0]?.text ?? "", values), entries);
        const { entry, command, args, options } = await parse(read.words, {
          commands: entries,
          cwd,
          marks: read.marks,
        });
        lines.push({
          line,
          name,
          entry,
          command,
          args: await fetch(args),
          options: await fetch(options),
        });
      } catch (error) {
        throw error instanceof UsageError ? named(error, name) : error;
      }
    }
  }
  return lines;
}

/** The words with the values of variables in their slots: a value is text, whatever it looks like. */
function withValues(words: readonly string[], values: readonly string[]): LineWords {
  const marks = new Map<string, MarkedWord>();
  const end = words.indexOf("--");
  const filled = words.map((word, index) => {
    const text = fillSlots(word, values);
    if (text === word) return word;
    const isLiteral = word.startsWith("\0");
    if (!isLiteral && word.startsWith("-") && (end < 0 || index < end)) {
      refuseOptionName(word.slice(0, word.indexOf("\0")), text);
      return text;
    }
    const mark = `\0${index}`;
    marks.set(mark, { text, isLiteral, glob: fillSlots(word, values.map(literalGlob)) });
    return mark;
  });
  return { words: filled, marks };
}

function notAllowed(word: string, entries: InnerLineOptions["entries"]): UsageError {
  const names = entries.map((entry) => entry.name);
  return new UsageError(`'${word}' is not possible here`, {
    reason: "unknown-command",
    hint: `use ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`,
  });
}

function named(error: UsageError, name: string): UsageError {
  return new UsageError(`${name}: ${error.message}`, {
    reason: error.reason,
    cause: error,
    ...(error.hint !== undefined && { hint: error.hint }),
  });
}
