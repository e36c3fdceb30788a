import type { Running } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Statement } from "../parsing/lexer.ts";
import type { FailedLine } from "../reports/error-reporter.ts";
import type { LineSink } from "../sinks/line-sink.ts";

/** The place of a line, for messages. */
export interface Where extends Pick<FailedLine, "command" | "flags"> {
  readonly line: number;
}

/** A parsed line with the front end that runs it. */
export interface ScriptLine extends Pick<Statement, "source"> {
  readonly where: Where;
  /** Present for a line with its own options. */
  readonly frontEnd?: FrontEnd;
  readonly sink: LineSink;
}

export interface Started {
  readonly where: Where;
  readonly running: Running;
  readonly isRead: boolean;
}
