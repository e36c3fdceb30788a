/** Lines that are arguments of another line: `txn 'create /a 1' 'set /b 2'`. */
import type { AnyCommand, CommandEntry } from "./command.ts";

export interface InnerLineOptions {
  /** The commands that a line can begin with. */
  readonly entries: readonly CommandEntry[];
  /** The znode that relative paths start from. */
  readonly cwd: string;
  /** What messages call a line; its number is counted from 1. */
  nameOf(line: number, source: string): string;
}

/** A parsed line that is part of another one. All its data has been read. */
export interface InnerLine {
  /** Its place in the text, counted from 1, and what messages call it. */
  readonly line: number;
  readonly name: string;
  readonly entry: CommandEntry;
  readonly command: AnyCommand;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}
