import type { CommandEntry } from "../../src/commands/command.ts";
import { readSettings } from "../../src/config/settings.ts";
import { Warnings } from "../../src/config/warnings.ts";
import type { Io } from "../../src/io/io.ts";
import { describeProgram } from "../../src/program.ts";
import type { Session } from "../../src/session/session.ts";
import type { Asker } from "../../src/shell/execute.ts";
import { FrontEnd } from "../../src/shell/front-end.ts";
import { ErrorReporter } from "../../src/shell/reports/error-reporter.ts";
import { Trace } from "../../src/shell/trace.ts";
import { TypedPasswords } from "../../src/shell/typed-passwords.ts";
import { memoryIo } from "../commands/memory-io.ts";

export interface TestFrontEndOptions {
  openSession(): Promise<Session>;
  readonly io?: Io;
  /** The registry; all of zksh's commands where this is left out. */
  readonly commands?: readonly CommandEntry[];
  readonly signal?: AbortSignal;
  readonly asker?: Asker | undefined;
  /** Called when a renderer is opened. */
  onRenderer?(): void;
}

/** A front end without a process, on whatever session `openSession` returns. */
export function testFrontEnd(options: TestFrontEndOptions): FrontEnd {
  const { io = memoryIo(), signal = new AbortController().signal, asker, onRenderer } = options;
  const info = { env: io.env, programName: "zksh" };
  const described = describeProgram(io);
  const commands = options.commands ?? described.commands;
  const program = { ...described, commands, version: () => "0" };
  const settings = readSettings({ server: ["h:1"] }, info);
  const frontEnd = new FrontEnd(settings, {
    io,
    program,
    signal,
    services: {
      openSession: options.openSession,
      about: async () => "3.8.0",
      onSignal: () => () => {},
    },
    reporter: new ErrorReporter({ ...info, io, program, signals: { exitCode: undefined } }),
    warnings: new Warnings(async () => {}),
    settingsAt: () => settings,
    trace: new Trace(() => {}, { isAlwaysOn: false }),
    passwords: new TypedPasswords(io, signal),
    startServer: () => Promise.reject(new Error("not here")),
  });
  const open = frontEnd.renderer.bind(frontEnd);
  frontEnd.renderer = () => {
    onRenderer?.();
    return open();
  };
  if (asker) Object.defineProperty(frontEnd, "asker", { value: asker });
  return frontEnd;
}
