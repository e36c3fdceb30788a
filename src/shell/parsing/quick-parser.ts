import { type CommandEntry, findCommand } from "../../commands/command.ts";
import type { Marks } from "./marked-words.ts";
import type { Dialect, Invocation, ParseOptions } from "./parser.ts";
import { PlainLines } from "./plain-lines.ts";

/** A parser for the simple lines of one command. */
interface KnownLines {
  parse(words: readonly string[], cwd: string, marks?: Marks): Invocation | undefined;
}

interface LineParserOptions {
  readonly commands: readonly CommandEntry[];
  readonly dialect: Dialect;
}

/** Parses the words of many lines into Invocations, and caches the declaration of each command. */
export class QuickParser {
  readonly #options: LineParserOptions;
  readonly #known = new Map<string, KnownLines>();

  constructor(options: LineParserOptions) {
    this.#options = options;
  }

  /** Returns undefined for a line that needs `parse`. Throws UsageError. */
  parseNow(words: readonly string[], cwd: string, marks?: Marks): Invocation | undefined {
    return this.#known.get(words[0] ?? "")?.parse(words, cwd, marks);
  }

  /** `dialect` may differ from that of the other lines. Throws UsageError. */
  async parse(
    words: readonly string[],
    cwd: string,
    { dialect = this.#options.dialect, marks }: Pick<ParseOptions, "dialect" | "marks"> = {},
  ): Promise<Invocation> {
    if (dialect === this.#options.dialect) {
      await this.#learn(words[0] ?? "");
      const now = this.parseNow(words, cwd, marks);
      if (now) return now;
    }
    const { parse } = await import("./parser.ts");
    return parse(words, { commands: this.#options.commands, dialect, cwd, marks });
  }

  async #learn(name: string): Promise<void> {
    const { commands, dialect } = this.#options;
    const entry = this.#known.has(name) ? undefined : findCommand(commands, name);
    if (!entry) return;
    const command = await entry.load();
    if (dialect === "zksh") this.#known.set(name, new PlainLines(entry, command));
    else this.#known.set(name, new (await import("./zkcli-parser.ts")).ZkcliLines(entry, command));
  }
}
