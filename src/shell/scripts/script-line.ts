import type { Running } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Statement } from "../parsing/lexer.ts";
import type { FailedLine } from "../reports/error-reporter.ts";

/** Where a line stands, for messages about it. */
export interface Where extends Pick<FailedLine, "command" | "flags"> {
  readonly line: number;
}

/** A line with what it is run with. */
export interface ScriptLine extends Pick<Statement, "source"> {
  readonly where: Where;
  /** Given for a line with options of its own. */
  readonly frontEnd?: FrontEnd;
}

export interface Started {
  readonly where: Where;
  readonly running: Running;
  readonly isRead: boolean;
}
