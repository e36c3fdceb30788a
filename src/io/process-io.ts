import { closeSync, fstatSync, readSync, statSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { Readable } from "node:stream";
import { isatty } from "node:tty";
import { UsageError } from "../errors.ts";
import type { Processes } from "../processes/child-requests.ts";
import type { Files } from "./files.ts";
import type { Input, Io, Output, Self } from "./io.ts";
import { OutputWriter } from "./output-writer.ts";
import { StandardOutputs } from "./standard-outputs.ts";

/**
 * The real Io: the only reader of process.std* and process.env. Streams are opened at first use,
 * because opening costs time.
 */
export function processIo(outputs = new StandardOutputs()): Io {
  const stdin = lazy(() => input(fileAt(STDIN) ?? process.stdin));
  const stdout = lazy(() => outputs.results());
  const stderr = lazy(() => outputs.messages());
  const self = lazy(findSelf);
  return {
    env: process.env,
    writer: new OutputWriter(),
    get self() {
      return self();
    },
    get stdin() {
      return stdin();
    },
    get stdout() {
      return stdout();
    },
    get stderr() {
      return stderr();
    },
    files: processFiles,
    processes: programRunner(stdout),
  };
}

const processFiles: Files = {
  async read(path) {
    const { readFile } = await import("node:fs/promises");
    return readFile(path);
  },
  async write(path, data) {
    const { writeWhole } = await import("./whole-file.ts");
    await writeWhole(path, data);
  },
  async cannotWrite(path) {
    const { cannotWrite } = await import("./whole-file.ts");
    return cannotWrite(path);
  },
  async *stream(path) {
    const { createReadStream } = await import("node:fs");
    yield* createReadStream(path);
  },
  async kind(path, options) {
    const { kindOf } = await import("./folders.ts");
    return kindOf(path, options);
  },
  async list(path) {
    const { listFolder } = await import("./folders.ts");
    return listFolder(path);
  },
  async makeFolder(path) {
    const { makeFolder } = await import("./folders.ts");
    return makeFolder(path);
  },
  async draft(path) {
    const { openDraft } = await import("./whole-file.ts");
    return openDraft(path);
  },
  async scratch(name, data) {
    const { openScratch } = await import("./scratch-file.ts");
    return openScratch(name, data);
  },
};

function programRunner(openStdout: () => Output): Processes {
  return {
    async run(request) {
      const { runChild } = await import("../processes/run-child.ts");
      return runChild(request, inherited());
    },
    async startShell(request) {
      const { startShell } = await import("../processes/shell-child.ts");
      openStdout();
      return startShell(request, inherited());
    },
    async find(name) {
      const { findProgram } = await import("../processes/find-program.ts");
      return findProgram(name, process.env);
    },
    async prepareGuard(options) {
      const { prepareGuard } = await import("../processes/guarded-child.ts");
      const onStart = () => {
        options.onStart?.();
        // Opening stdout makes a pipe non-blocking for all who have it. Done before the program
        // gets it, starting the program undoes that; done later, the program's own writes would
        // fail.
        openStdout();
      };
      return prepareGuard(inherited(), { ...options, onStart });
    },
  };
}

/** Programs inherit the environment, but for the password of a login by SASL. */
function inherited(): NodeJS.ProcessEnv {
  const { ZKSH_SASL: login = "" } = process.env;
  const [mechanism, user, password] = login.split(":");
  if (password === undefined) return process.env;
  return { ...process.env, ZKSH_SASL: `${mechanism}:${user}` };
}

/**
 * Node restores the terminal when the process ends, and aborts with a core dump where the terminal is
 * gone. It leaves closed descriptors alone, so this closes them. Must be the last call.
 */
export function forgetGoneTerminal(): void {
  for (const fd of [0, 1, 2]) {
    try {
      const device = fstatSync(fd);
      // Asking about /dev/null, too, would load a module of node's for nothing.
      if (!device.isCharacterDevice() || device.rdev === statSync("/dev/null").rdev) continue;
      if (!isatty(fd)) closeSync(fd);
    } catch {
      // It is closed already.
    }
  }
}

function findSelf(): Self {
  const host = hostname();
  return { who: `${userName()}@${host.replace(/\..*/, "")}`, host, pid: process.pid };
}

/** In a container the user may be a number that no name belongs to. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER || `uid${process.getuid?.() ?? ""}`;
  }
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function input(stream: Readable & { readonly isTTY?: boolean }): Input {
  // Readers get the error themselves. Without this listener, a terminal that vanishes while nothing
  // reads would end the process.
  stream.on("error", () => {});
  return { stream, isTTY: stream.isTTY === true, isOver: () => isOver(stream) };
}

/** By the descriptor, because a stream tells of its end only when the event loop comes round. */
function isOver(stream: Readable): "ended" | "file" | undefined {
  if (stream.readableEnded || stream.destroyed) return "ended";
  const stats = fstatSync(STDIN);
  if (stats.isFile() || stats.isDirectory()) return stats.size === 0 ? "ended" : "file";
  // Node opens /dev/null in the place of a stdin that is closed.
  if (stats.isCharacterDevice())
    return stats.rdev === statSync("/dev/null").rdev ? "ended" : undefined;
  return drain(stream) ? "ended" : undefined;
}

/**
 * Reads what a pipe or a socket has at this moment; true when that is all, because its writers have
 * gone.
 */
function drain(stream: Readable): boolean {
  // Opened by node, it does not block: where nothing has come yet, reading fails with EAGAIN.
  const piece = Buffer.allocUnsafe(PIECE);
  stream.pause();
  // A writer that never stops has not gone.
  for (let pieces = 0; pieces < MAX_PIECES; pieces++) {
    try {
      if (readSync(STDIN, piece) === 0) return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "EAGAIN";
    }
  }
  return false;
}

const STDIN = 0;
const PIECE = 64 * 1024;
/** More than a pipe holds (1 MB at most, without privileges). */
const MAX_PIECES = 64;

/**
 * An ordinary file, piece by piece; undefined for anything else. For a file process.stdin would
 * load a good part of node; and a directory, which is read like a file and fails, would be an empty
 * script to it.
 */
function fileAt(fd: number): Readable | undefined {
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
  } catch {
    // It is closed, which process.stdin can cope with.
    return undefined;
  }
  return new Readable({
    highWaterMark: PIECE,
    read() {
      try {
        const piece = Buffer.allocUnsafe(PIECE);
        const length = readSync(fd, piece);
        this.push(length === 0 ? null : piece.subarray(0, length));
      } catch (cause) {
        this.destroy(new UsageError(`cannot read stdin: ${(cause as Error).message}`, { cause }));
      }
    },
  });
}
