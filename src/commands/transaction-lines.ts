/** The lines of `txn`: each is read by the parser of its own command. */
import { UsageError } from "../errors.ts";
import type { MultiOp } from "../session/session.ts";
import { shorten } from "../text/shorten.ts";
import { Outside, optional, required, type ValueParser, version, znodePath } from "./arguments.ts";
import { type CommandEntry, defineCommand } from "./command.ts";
import type { InnerLine } from "./inner-line.ts";
import { znodes } from "./registry/znodes.ts";

/** The lines of one argument, of stdin or of a file. */
export interface LineGroup {
  readonly isArgument: boolean;
  readonly lines: readonly InnerLine[];
}

const check = defineCommand({
  examples: ["check /app/config 3"],
  effect: "read",
  args: {
    path: required(znodePath, "the znode that must exist"),
    version: optional(version, "the version that its data must have"),
  },
  options: {},
  operations({ path, version: expected }) {
    const isAny = expected === undefined || expected === -1;
    return [{ op: "check", path, ...(!isAny && { version: expected }) }];
  },
  async run() {
    throw new UsageError("check stands only in a transaction", { hint: "txn 'check /a 3'" });
  },
});

const ENTRIES: readonly CommandEntry[] = [
  ...znodes
    .filter(({ name }) => ["create", "set", "delete"].includes(name))
    .map((entry) => ({ ...entry, group: "znodes" as const })),
  {
    name: "check",
    summary: "refuse the transaction if a znode is missing or has another version",
    group: "znodes",
    load: async () => check,
  },
];

/** One line, or `-` for the lines of stdin. */
export const transactionLine: ValueParser<LineGroup> = (text, { cwd, template }) =>
  new Outside(async (reader) => {
    const isArgument = text !== "-" || template !== undefined;
    const nameOf = isArgument
      ? (_line: number, source: string) => `'${shortSource(source)}'`
      : nameInFile("stdin");
    if (isArgument && /^\S+$/.test(template?.text ?? text))
      throw new UsageError(`'${shortSource(text)}' is not a line of a transaction`, {
        hint: "quote each line as one word: txn 'create /a 1' 'delete /b'",
      });
    const given = isArgument ? (template?.text ?? text) : await reader.stdin();
    const how = { entries: ENTRIES, cwd, nameOf, values: template?.values };
    return { isArgument, lines: await reader.lines(given, how) };
  });

/** The lines of a file. */
export const transactionFile: ValueParser<LineGroup> = (file, { cwd }) =>
  new Outside(async (reader) => {
    const nameOf = nameInFile(file);
    const given = await reader.file(file);
    return {
      isArgument: false,
      lines: await reader.lines(given, { entries: ENTRIES, cwd, nameOf }),
    };
  });

function nameInFile(file: string): (line: number, source: string) => string {
  return (line, source) => `line ${line} of ${file}, '${shortSource(source)}'`;
}

const MAX_SHOWN = 60;

/** An ACL with a digest may hold a password: of such a line only the command is shown. */
function shortSource(source: string): string {
  return /digest:/.test(source) ? `${source.split(/\s/, 1)[0]} …` : shorten(source, MAX_SHOWN);
}

/** A line with what it does. */
export interface TransactionLine {
  /** The place among the arguments, or in the file; counted from 1. */
  readonly number: number;
  readonly name: string;
  readonly command: string;
  readonly withStat: boolean;
  readonly ops: readonly MultiOp[];
}

/** The lines of all groups, with their operations. Throws UsageError. */
export async function transactionLines(groups: readonly LineGroup[]): Promise<TransactionLine[]> {
  if (groups.length > 1 && groups.some(({ isArgument }) => !isArgument)) {
    throw new UsageError("the lines of a transaction come from one place", {
      hint: "give the lines as arguments, or - for stdin, or --file FILE",
    });
  }
  const lines: TransactionLine[] = [];
  for (const [index, { isArgument, lines: inner }] of groups.entries()) {
    for (const line of inner) {
      const number = isArgument ? index + 1 : line.line;
      const name = isArgument ? `line ${number}, ${line.name}` : line.name;
      lines.push({
        number,
        name,
        command: line.entry.name,
        withStat: line.options.stat === true,
        ops: await operationsOf(line, name),
      });
    }
  }
  if (lines.length > 0) return lines;
  throw new UsageError("a transaction needs at least one line", {
    hint: "txn 'create /a 1' 'set /b 2'",
  });
}

async function operationsOf(
  { command, args, options }: InnerLine,
  name: string,
): Promise<readonly MultiOp[]> {
  try {
    return (await command.operations?.(args, options)) ?? [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${name}: ${error.message}`, {
      reason: error.reason,
      cause: error,
      ...(error.hint !== undefined && { hint: error.hint }),
    });
  }
}
