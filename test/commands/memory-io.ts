import { Readable, Writable } from "node:stream";
import type { ColorLevel, Io, Output } from "../../src/io/io.ts";
import { OutputWriter } from "../../src/io/output-writer.ts";
import type { GuardPreparation, Processes } from "../../src/processes/child-requests.ts";

export interface MemoryIoOptions {
  /** Both outputs are terminals; not so by default. */
  readonly tty?: boolean;
  readonly columns?: number;
  readonly colorLevel?: ColorLevel;
  readonly stdin?: string | Buffer | Readable;
  readonly env?: Readonly<Record<string, string>>;
  /** Files by name; there are no others. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** What a program that is run does. */
  readonly runChild?: Processes["run"];
  /** Every program is found where this is left out. */
  readonly findProgram?: Processes["find"];
  readonly startGuarded?: GuardPreparation["start"];
  /** Files for other programs, by path, until they are discarded. */
  readonly scratches?: Map<string, Buffer>;
  /** stdout fails with this when it is written to. */
  readonly stdoutError?: Error;
}

export interface MemoryIo extends Io {
  readonly written: { readonly stdout: Buffer; readonly stderr: string };
  /** Files that were written piece by piece. */
  readonly saved: ReadonlyMap<string, string>;
}

/** An Io that keeps what is written to it. */
export function memoryIo(options: MemoryIoOptions = {}): MemoryIo {
  const {
    tty = false,
    columns = 80,
    colorLevel = 0,
    stdin = "",
    env = {},
    files = {},
    stdoutError,
    runChild,
    findProgram = async (name) => ({ kind: "found", path: `/bin/${name}` }),
    startGuarded,
  } = options;
  const saved = new Map<string, string>();
  const scratches = options.scratches ?? new Map<string, Buffer>();
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const output = (name: "stdout" | "stderr", error?: Error): Output => {
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        if (!error) chunks[name].push(chunk);
        done(error);
      },
    });
    stream.on("error", () => {});
    return { stream, isTTY: tty, columns, colorLevel };
  };
  return {
    stdin: {
      stream: stdin instanceof Readable ? stdin : Readable.from([Buffer.from(stdin)]),
      isTTY: tty,
    },
    stdout: output("stdout", stdoutError),
    stderr: output("stderr"),
    writer: new OutputWriter(),
    env,
    self: { who: "ann@web3", host: "web3.example", pid: 4711 },
    files: {
      async write() {},
      async cannotWrite() {
        return undefined;
      },
      async read(path) {
        const contents = files[path];
        if (contents === undefined)
          throw new Error(`ENOENT: no such file or directory, open '${path}'`);
        return Buffer.from(contents);
      },
      async *stream(path) {
        yield await this.read(path);
      },
      async scratch(name, data) {
        const path = `/tmp/zksh-test/${name}`;
        scratches.set(path, Buffer.from(data));
        return {
          path,
          async read() {
            return scratches.get(path) ?? Buffer.alloc(0);
          },
          async truncate(length) {
            scratches.set(path, (scratches.get(path) ?? Buffer.alloc(0)).subarray(0, length));
          },
          async neighbours() {
            return [];
          },
          async discard() {
            scratches.delete(path);
          },
        };
      },
      async kind(path) {
        return path in files ? "file" : undefined;
      },
      async list() {
        return [];
      },
      async makeFolder(path) {
        throw new Error(`there are no folders here: ${path}`);
      },
      async draft(path) {
        let text = "";
        return {
          isFile: true,
          async write(piece) {
            text += piece;
          },
          async *read() {
            yield Buffer.from(text);
          },
          async commit() {
            saved.set(path, text);
          },
          async discard() {},
        };
      },
    },
    saved,
    processes: {
      async run(request) {
        if (!runChild) throw new Error(`there are no programs here: ${request.argv.join(" ")}`);
        return runChild(request);
      },
      async startShell({ command }) {
        throw new Error(`there are no programs here: ${command}`);
      },
      find: findProgram,
      async prepareGuard() {
        const start: GuardPreparation["start"] = async (request) => {
          if (!startGuarded)
            throw new Error(`there are no programs here: ${request.argv.join(" ")}`);
          return startGuarded(request);
        };
        return { start, dispose() {} };
      },
    },
    get written() {
      return {
        stdout: Buffer.concat(chunks.stdout),
        stderr: Buffer.concat(chunks.stderr).toString(),
      };
    },
  };
}
