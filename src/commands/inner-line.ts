/** Lines that are arguments of another line: `txn 'create /a 1' 'set /b 2'`. */
import type { AnyCommand, CommandEntry } from "./command.ts";

/**
 * A line that was written with variables. Its text has {@link slot}s in the places of their values,
 * which are no part of the line's syntax.
 */
export interface LineTemplate {
  readonly text: string;
  readonly values: readonly string[];
}

/** Stands for the value with this index. */
export function slot(index: number): string {
  return `\0${index}\0`;
}

/** Whether a word begins with the value of a variable. */
export function startsWithSlot(template: LineTemplate | undefined): boolean {
  return template?.text.startsWith("\0") === true;
}

/** The text with the values in their places. */
export function fillSlots(text: string, values: readonly string[]): string {
  return text.replace(/\0(\d+)\0/g, (written, index) => values[Number(index)] ?? written);
}

export interface InnerLineOptions {
  /** The commands that a line can begin with. */
  readonly entries: readonly CommandEntry[];
  /** The znode that relative paths start from. */
  readonly cwd: string;
  /** Of a {@link LineTemplate}. */
  readonly values?: readonly string[] | undefined;
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
