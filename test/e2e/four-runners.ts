/** The four ways to run a line, each in a tree of its own that looks the same. */
import { PassThrough } from "node:stream";
import { main } from "../../src/main.ts";
import { findProgram } from "../../src/processes/find-program.ts";
import { runChild } from "../../src/processes/run-child.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { askWord } from "../../src/session/zookeeper/connecting/four-letter-word.ts";
import { hostAddresses } from "../../src/session/zookeeper/connecting/host-addresses.ts";
import { lex } from "../../src/shell/parsing/lexer.ts";
import { memoryIo } from "../commands/memory-io.ts";
import { startGuarded } from "../processes/start-guarded.ts";
import { freshChroot } from "../support/shared-server.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, type ZkshResult } from "../support/zksh-process.ts";

interface Outcome {
  /** What was written to stdout, one object a line, without what must differ from run to run. */
  readonly stdout: readonly unknown[];
  readonly code: number;
  /** Why it failed. */
  readonly reason?: string;
}

/** `ROOT` in a line stands for the tree's own znode, and the line is then run without a chroot. */
interface Task {
  readonly line: string;
  /** What is done first, by somebody else. */
  readonly given?: string | undefined;
  readonly connectTimeout?: string | undefined;
}

type Runner = (task: Task) => Promise<Outcome>;

// JSON is the one form that is the same on a terminal and in a pipe.
const OPTIONS = ["--json", "--yes"];

export const runners: Readonly<Record<"oneShot" | "script" | "stdin" | "prompt", Runner>> = {
  async oneShot(task) {
    const { server, line } = await prepared(task);
    const words = lex(line).statements[0]?.words.map(({ text }) => text) ?? [];
    return ofProcess(await runZksh(["-s", server, ...optionsOf(task), ...words]));
  },
  async script(task) {
    const { server, line } = await prepared(task);
    return ofProcess(await runZksh(["-s", server, ...optionsOf(task), "-c", line]));
  },
  async stdin(task) {
    const { server, line } = await prepared(task);
    return ofProcess(await runZksh(["-s", server, ...optionsOf(task)], { input: `${line}\n` }));
  },
  async prompt(task) {
    const { server, line } = await prepared(task);
    const stdin = new PassThrough();
    const home = temporaryDirectory("runners");
    // A dumb terminal: no cursor is moved, so that the output can be read as it comes.
    const io = memoryIo({
      tty: true,
      stdin,
      env: { TERM: "dumb", HOME: home },
      runChild: (request) => runChild(request, {}),
      findProgram: (name) => findProgram(name, process.env),
      startGuarded: (request) => startGuarded(request, process.env),
    });
    const left = main({ programName: "zksh", argv: ["-q", "-s", server, ...optionsOf(task)] }, io, {
      openSession: async (options) => openSession(options),
      askWord,
      addressesOf: (host, signal) => hostAddresses(host, { signal, timeoutMs: 10_000 }),
      onSignal: () => () => {},
    });
    stdin.write(`${line}\nquit\n`);
    await left;
    removeDirectory(home);
    // At the prompt a failure is a message; only a false answer, and a program's own code, have
    // none.
    const stdout = results(io.written.stdout.toString());
    const failure = failureIn(io.written.stderr);
    const isFalse = stdout.some((result) => isObject(result) && isNo(result));
    return { stdout, code: isFalse ? 1 : codeOfProgram(io.written.stderr), ...failure };
  },
};

function optionsOf({ connectTimeout = "10s" }: Task): string[] {
  return [...OPTIONS, "--connect-timeout", connectTimeout];
}

/**
 * The znodes that lines are about: /a (data x) with children b and c, /shut without any permission.
 */
async function prepared({
  line,
  given,
}: Task): Promise<{ readonly server: string; readonly line: string }> {
  const server = await freshChroot();
  const session = openSession({ ...parseConnectString(server), timeoutMs: 10_000 });
  try {
    await Promise.all([
      session.create("/a", Buffer.from("x")),
      session.create("/a/b", Buffer.from('{"k":1}')),
      session.create("/a/c d", null),
      session.create("/shut", null, { acl: [{ perms: 16, scheme: "world", id: "anyone" }] }),
    ]);
  } finally {
    await session.close();
  }
  const [address = "", name] = server.split("/");
  const atRoot = (text: string) => text.replace("ROOT", `/${name}`);
  if (given !== undefined) await runZksh(["-s", address, "--yes", "-c", atRoot(given)]);
  return { server: line.includes("ROOT") ? address : server, line: atRoot(line) };
}

function ofProcess({ code, stdout, stderr }: ZkshResult): Outcome {
  const failure = failureIn(stderr);
  return {
    stdout: results(stdout.toString()),
    code: code ?? -1,
    ...(failure && { reason: failure.reason }),
  };
}

function results(written: string): unknown[] {
  // In front of a line there may be prompts, and the shell has words of its own.
  const objects = written.split("\n").map((line) => /(?:^|> )(\{.*\})$/.exec(line)?.[1]);
  return objects.flatMap((text) => (text === undefined ? [] : [JSON.parse(text, sameForAll)]));
}

function isNo({ exists, leader, holders, can, check }: Record<string, unknown>): boolean {
  if (can === false || check !== undefined) return true;
  return exists === false || leader === null || (Array.isArray(holders) && holders.length === 0);
}

/** What a program under a lock has ended with, by the events that tell of it. */
function codeOfProgram(stderr: string): number {
  const events = stderr.split("\n").filter((text) => text.startsWith('{"event":"child_exit"'));
  return events.map((text) => Number(JSON.parse(text).end.code)).at(-1) ?? 0;
}

function failureIn(stderr: string): { code: number; reason: string } | undefined {
  for (const line of stderr.split("\n").filter((text) => text.startsWith("{"))) {
    const { error } = JSON.parse(line);
    // Without a code it is about one znode of many.
    if (error?.exitCode !== undefined) return { code: error.exitCode, reason: error.reason };
  }
  return undefined;
}

/** Ids, times and addresses differ from run to run. */
function sameForAll(key: string, value: unknown): unknown {
  if (key === "ephemeralOwner") return value === "0x0" ? "nobody" : "somebody";
  if (/^([cmp]?zxid|[cm]time(Ms)?|time(Ms)?|at|sessionId|server)$/.test(key)) return "…";
  if (typeof value === "string") return value.replace(/^\/test-[^/]+/, "");
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
