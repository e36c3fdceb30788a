/** Parses the lines that are arguments of a line: `txn 'create /a 1' 'set /b 2'`. */
import { findCommand } from "../../commands/command.ts";
import type { InnerLine, InnerLineOptions } from "../../commands/inner-line.ts";
import { UsageError } from "../../errors.ts";
import { type Invocation, parse } from "./parser.ts";
import { readStatements } from "./script-text.ts";

type Values = Invocation["args"];

/**
 * The statements of a text as {@link parse} reads them. `fetch` reads the values that come from
 * stdin or a file. Throws UsageError, which names the line.
 */
export async function parseInnerLines(
  text: string | Uint8Array,
  { entries, cwd, nameOf }: InnerLineOptions,
  fetch: (values: Values) => Promise<Values>,
): Promise<InnerLine[]> {
  const lines: InnerLine[] = [];
  for await (const statements of readStatements([text])) {
    for (const { words, source, line } of statements) {
      const name = nameOf(line, source);
      try {
        const [first = "", ...rest] = words.map((word) => word.text);
        if (!findCommand(entries, first)) throw notAllowed(first, entries);
        const { entry, command, args, options } = await parse([first, ...rest], {
          commands: entries,
          cwd,
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
