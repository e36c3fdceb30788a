/** Runs the program once, as one item, and checks that it did no harm, for any answers of the server. */
import { readFileSync, writeFileSync } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { expect } from "vitest";
import type { Io, Output } from "../../src/io/io.ts";
import { main } from "../../src/main.ts";
import type { GuardedChild } from "../../src/processes/child-requests.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import {
  askWord,
  describeServer,
} from "../../src/session/zookeeper/connecting/four-letter-word.ts";
import { hostAddresses } from "../../src/session/zookeeper/connecting/host-addresses.ts";
import type { EndingSignal } from "../../src/shell/runtime.ts";
import { memoryIo } from "../commands/memory-io.ts";
import {
  expectNoControls,
  expectNothingForged,
  expectNothingHidden,
  expectOneJsonALine,
} from "./shown.ts";

/** Commands that do not end by themselves are interrupted then. */
const INTERRUPT_MS = 200;
/** Between keys that are typed. */
const KEY_MS = 20;
const MAX_MS = 2_000;
const STUCK_MS = 20_000;
const MAX_GROWTH_MB = 200;

export interface Item {
  readonly argv: readonly string[];
  readonly format: "text" | "json" | "zkcli";
  readonly tty: boolean;
  /** stdout is the data of a znode, byte for byte. */
  readonly hasExactData?: boolean;
  /** Keys that are typed at a question. */
  readonly keys?: readonly string[];
  /** Keys that are typed at the prompt, with a pause between each. */
  readonly typed?: readonly string[];
}

export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cost: Cost;
}

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
  readonly growthMb: number;
}

/**
 * Runs an item and checks it. A run that was too slow has a second chance: the machine may have
 * been busy.
 */
export async function check(item: Item, server: string, prepare: () => void): Promise<Ran> {
  const uncaught: unknown[] = [];
  const restore = listenForUncaught(uncaught);
  try {
    prepare();
    let ran = await run(item, server);
    if (ran.cost.ms > MAX_MS) {
      prepare();
      ran = await run(item, server);
    }
    expectHarmless(item, ran);
    expect(uncaught.map((error) => (error instanceof Error ? error.stack : error))).toEqual([]);
    return ran;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${JSON.stringify(item)}\n${message.slice(0, 4_000)}`, { cause: error });
  } finally {
    restore();
  }
}

function expectHarmless(item: Item, { exit, stdout, stderr, cost }: Ran): void {
  const { format, tty, hasExactData = false } = item;
  expect(exit, stderr.slice(0, 1_000)).not.toBe(70);
  expect(stderr).not.toContain("internal error");
  expect(cost.ms, "milliseconds").toBeLessThan(MAX_MS);
  expect(cost.growthMb, "MB of growth").toBeLessThan(MAX_GROWTH_MB);
  const texts = hasExactData && !tty ? [stderr] : [stdout, stderr];
  for (const text of texts) {
    if (tty || format === "json") expectNothingHidden(text);
    else expectNoControls(text);
    expectNothingForged(text);
  }
  if (format === "json") expectOneJsonALine(stdout);
}

async function run(
  { argv, format, tty, keys = [], typed = [] }: Item,
  server: string,
): Promise<Ran> {
  const stdin = new PassThrough();
  const [stdout, stderr] = [new Screen(tty), new Screen(tty)];
  const io: Io = {
    ...memoryIo({
      tty,
      stdin,
      env: { LANG: "C" },
      startGuarded: async () => program(),
      runChild: async () => ({ code: 0 }),
    }),
    stdout: stdout.output,
    stderr: stderr.output,
  };
  const waiting = [...keys];
  stderr.onQuestion = () => stdin.write(waiting.shift() ?? "");
  if (!tty) stdin.end("from stdin\n");
  let interrupt: ((signal: EndingSignal) => void) | undefined;
  const timer = setTimeout(() => interrupt?.("SIGINT"), INTERRUPT_MS + typed.length * KEY_MS);
  const typing = [...typed];
  const typist = setInterval(() => typing.length > 0 && stdin.write(typing.shift()), KEY_MS);
  const startedAt = performance.now();
  const measure = measureMemory();
  const cpu = process.cpuUsage();
  const options = ["-s", server, "--connect-timeout", "200ms", "-t", "4s", "-o", format];
  const running = main({ programName: "zksh", argv: [...options, ...argv] }, io, {
    openSession: async (sessionOptions) => openSession(sessionOptions),
    about: async (address) => describeServer(address, undefined),
    askWord,
    addressesOf: (host, signal) => hostAddresses(host, { signal, timeoutMs: 1_000 }),
    onSignal(listener) {
      interrupt = listener;
      return () => {
        interrupt = undefined;
      };
    },
  });
  const exit = await Promise.race([running, stuck(() => stdout.text + stderr.text)]);
  clearTimeout(timer);
  clearInterval(typist);
  const { user, system } = process.cpuUsage(cpu);
  const cost = {
    ms: performance.now() - startedAt,
    cpuMs: (user + system) / 1_000,
    growthMb: measure(),
  };
  return { exit, stdout: stdout.text, stderr: stderr.text, cost };
}

/** Rejects after a time that no item may take, on any machine. */
async function stuck(shown: () => string): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, STUCK_MS).unref());
  throw new Error(
    `still running after ${STUCK_MS} ms, having shown ${JSON.stringify(shown().slice(-500))}`,
  );
}

/** A program under a lock that has ended at once. */
function program(): GuardedChild {
  return {
    pid: 4711,
    hasOwnGroup: true,
    reach: "all",
    ended: Promise.resolve({ code: 0 }),
    signal: () => [],
    gone: async () => {},
    permit() {},
    wasOutOfTime: () => false,
    dispose: async () => {},
  };
}

/** Keeps what is written to it. */
class Screen {
  readonly output: Output;
  onQuestion: () => void = () => {};
  readonly #chunks: Buffer[] = [];

  constructor(tty: boolean) {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#chunks.push(chunk);
        if (chunk.includes("(y/N)")) this.onQuestion();
        done();
      },
    });
    // As those of the process, it cannot be ended: a question that is interrupted would end it.
    Object.assign(stream, { end: () => stream, ...(tty && { isTTY: true, columns: 80 }) });
    this.output = { stream, isTTY: tty, columns: 80, colorLevel: 0 };
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/**
 * Resets the kernel's high-water mark of our memory; the function tells by how many MB it has risen
 * since, at most.
 */
function measureMemory(): () => number {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Only Linux can reset the mark: elsewhere memory is not checked.
    return () => 0;
  }
  const before = process.memoryUsage.rss();
  return () => {
    const peakKb = Number(
      /VmHWM:\s*(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0,
    );
    return peakKb / 1_024 - before / 2 ** 20;
  };
}

/** As the test runner would fail for them without saying which item it was. */
function listenForUncaught(uncaught: unknown[]): () => void {
  const events = ["uncaughtException", "unhandledRejection"] as const;
  const usual = events.map((event) => [event, process.rawListeners(event as "exit")] as const);
  const listener = (error: unknown) => uncaught.push(error);
  for (const event of events) process.removeAllListeners(event).on(event, listener);
  return () => {
    for (const [event, listeners] of usual) {
      process.off(event, listener);
      for (const one of listeners) process.on(event, one as () => void);
    }
  };
}
