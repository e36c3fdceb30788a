import { type ColorLevel, detectColorLevel, type Input, type Io, type Output } from "./io.ts";

/** The real Io: the only reader of process.std* and process.env. Streams are opened at first use, because opening costs time. */
export function processIo(): Io {
  const stdin = lazy(() => input(process.stdin));
  const stdout = lazy(() => output(process.stdout));
  const stderr = lazy(() => output(process.stderr));
  return {
    env: process.env,
    get stdin() {
      return stdin();
    },
    get stdout() {
      return stdout();
    },
    get stderr() {
      return stderr();
    },
    async readFile(path) {
      const { readFile } = await import("node:fs/promises");
      return readFile(path);
    },
    async runChild(request) {
      const { runChild } = await import("./child.ts");
      return runChild(request, process.env);
    },
  };
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function input(stream: NodeJS.ReadStream): Input {
  return { stream, isTTY: stream.isTTY === true };
}

function output(stream: NodeJS.WriteStream): Output {
  // A failed write is told to its caller; without a listener the same failure would also end the process.
  stream.on("error", () => {});
  const isTTY = stream.isTTY === true;
  return {
    stream,
    isTTY,
    get columns(): number {
      return stream.columns || 80;
    },
    get colorLevel(): ColorLevel {
      return detectColorLevel(process.env, isTTY);
    },
  };
}
