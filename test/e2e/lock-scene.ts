import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext } from "vitest";
import { NoNodeError } from "../../src/errors.ts";
import { monotonicMs } from "../../src/processes/monotonic-clock.ts";
import { hasInEnvironment, processTable } from "../../src/processes/process-table.ts";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { SessionOptions } from "../../src/session/options.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import {
  startZksh,
  type ZkshOptions,
  type ZkshProcess,
  type ZkshResult,
} from "../support/zksh-process.ts";

const BEAT = join(import.meta.dirname, "fixtures/beat.py");

/** The lock that all of these tests are about. */
export const LOCK = "/l";

/**
 * One test's part of a server, and whatever it starts. Made from the test's own context, because
 * tests run beside each other. When the test has passed, nothing may be left: no process, and no
 * ticket below {@link LOCK}.
 */
export class Scene {
  /** The server with a chroot that is this test's alone. */
  readonly server: string;
  /** For looking on, past all faults. */
  readonly session: Session;
  readonly #mark = `ZKSH_TEST_MARK=${randomUUID()}`;
  readonly #directory = temporaryDirectory("lock");
  readonly #context: TestContext;
  #files = 0;

  private constructor(context: TestContext, server: string) {
    this.#context = context;
    this.server = server;
    this.session = this.open();
    // Last come first: this is before the session above is closed, and after whatever the test
    // opens.
    context.onTestFinished(() => this.#end());
  }

  /** On the server that all tests share, unless another is named. */
  static async at(context: TestContext, address = sharedServer()): Promise<Scene> {
    const [first = "", ...others] = address.split(",");
    const chroot = await freshChroot(first);
    return new Scene(context, [...others, chroot].join());
  }

  get chroot(): string {
    return this.server.slice(this.server.indexOf("/"));
  }

  open(options: Partial<SessionOptions> = {}, server = this.server): Session {
    const session = openSession({ ...parseConnectString(server), timeoutMs: 10_000, ...options });
    this.#context.onTestFinished(() => session.close());
    return session;
  }

  /** A network of its own to a server: `server` is the way through it. */
  async network(address = this.server): Promise<{ proxy: FaultProxy; server: string }> {
    const port = Number(/:(\d+)/.exec(address)?.[1]);
    const proxy = await startFaultProxy(port);
    this.#context.onTestFinished(() => proxy.close());
    return { proxy, server: `${proxy.address}${this.chroot}` };
  }

  file(): string {
    return join(this.#directory, String(++this.#files));
  }

  beat(): Beat {
    return new Beat(this.file());
  }

  /** `zksh lock …`, say; stdin stays open unless there is an input. */
  start(
    words: readonly string[],
    { server = this.server, ...options }: SceneOptions = {},
  ): ZkshProcess {
    const [name = "", value = ""] = this.#mark.split("=");
    return startZksh(["-s", server, ...words], {
      ...options,
      env: { ...options.env, [name]: value },
    });
  }

  run(words: readonly string[], options: SceneOptions = {}): Promise<ZkshResult> {
    return this.start(words, { input: "", ...options }).result;
  }

  /**
   * Holds zksh up between the lock and the start of the program, which waits for the answer whether
   * there is a setpriv.
   */
  slowStart(): { env: Record<string, string>; reached(): Promise<unknown>; goOn(): void } {
    const bin = this.file();
    mkdirSync(bin);
    const wait = `touch ${bin}/reached; while [ ! -e ${bin}/go ]; do sleep 0.02; done`;
    writeFileSync(`${bin}/setpriv`, `#!/bin/sh\n${wait}\nexit 1\n`, { mode: 0o755 });
    return {
      env: { PATH: `${bin}:${process.env.PATH}` },
      reached: async () => {
        await eventually(() => existsSync(`${bin}/reached`));
        await this.queue(1);
      },
      goOn: () => writeFileSync(`${bin}/go`, ""),
    };
  }

  /** A beat under the lock, running. */
  async holding(
    options: readonly string[] = [],
    { words = [], ...rest }: HoldingOptions = {},
  ): Promise<Holding> {
    const beat = this.beat();
    const zksh = this.start(["lock", ...options, LOCK, "--", ...beat.command(...words)], rest);
    const pid = await beat.started(zksh);
    return { zksh, beat, pid };
  }

  /** Somebody else in the queue of the lock, when it is in there: tells when it got the lock. */
  async rival(server = this.server): Promise<{ gotAt: Promise<number>; token: Promise<bigint> }> {
    const session = this.open({ timeoutMs: 10_000 }, server);
    let queued = () => {};
    const isQueued = new Promise<void>((resolve) => {
      queued = resolve;
    });
    const onEvent = ({ event }: { event: string }) => event === "queued" && queued();
    const lock = new Mutex(session, LOCK, { onEvent }).acquire();
    const gotAt = lock.then(() => monotonicMs());
    const token = lock.then(({ fencingToken }) => fencingToken);
    lock.then((held) => held.release()).catch(() => {});
    gotAt.catch(() => {});
    token.catch(() => {});
    await isQueued;
    return { gotAt, token };
  }

  /** The names below the lock, first come first. */
  async tickets(): Promise<string[]> {
    try {
      const names = await this.session.getChildren(LOCK);
      return names.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
    } catch (error) {
      if (error instanceof NoNodeError) return [];
      throw error;
    }
  }

  /** Waits until so many queue, the holder among them; the path of the last. */
  async queue(length: number): Promise<string> {
    return eventually(async () => {
      const names = await this.tickets();
      expect(names).toHaveLength(length);
      return `${LOCK}/${names.at(-1)}`;
    });
  }

  /** What this test has started and what still runs, watchdogs among it. */
  processes(): number[] {
    return processTable()
      .filter(({ pid, state }) => state !== "zombie" && hasInEnvironment(pid, this.#mark))
      .map(({ pid }) => pid);
  }

  /** All that is not part of a semaphore's path. */
  async #leftBelow(path: string): Promise<string[]> {
    const children = await this.session.getChildren(path).catch((error: unknown) => {
      if (error instanceof NoNodeError) return [];
      throw error;
    });
    const left = children.map((name) =>
      name === "locks" || name === "leases"
        ? this.#leftBelow(`${path}/${name}`)
        : [`${path}/${name}`],
    );
    return (await Promise.all(left)).flat();
  }

  async #end(): Promise<void> {
    const { task } = this.#context;
    try {
      if (task.result?.state !== "pass" && task.result?.state !== "run") return;
      await eventually(() => expect(this.processes().map(stateOf)).toEqual([]), {
        message: "a process was left",
      });
      await eventually(async () => expect(await this.#leftBelow(LOCK)).toEqual([]), {
        message: "a ticket was left",
      });
    } finally {
      for (const pid of this.processes()) kill(pid, "SIGKILL");
      removeDirectory(this.#directory);
    }
  }
}

export interface SceneOptions extends ZkshOptions {
  readonly server?: string;
}

export interface HoldingOptions extends SceneOptions {
  /** For beat.py. */
  readonly words?: readonly string[];
}

export interface Holding {
  readonly zksh: ZkshProcess;
  readonly beat: Beat;
  readonly pid: number;
}

/** What beat.py writes; times are those of {@link monotonicMs}. */
export class Beat {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  command(...words: readonly string[]): string[] {
    return ["/usr/bin/python3", "-IS", BEAT, this.file, ...words];
  }

  get lines(): { at: number; word: string }[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const [ns = "", word = ""] = line.split(" ");
      return { at: Number(ns) / 1e6, word };
    });
  }

  get hasRun(): boolean {
    return existsSync(this.file);
  }

  /** Its process, when it runs. */
  started(zksh?: ZkshProcess): Promise<number> {
    return eventually(
      () => {
        const [first, second] = this.lines;
        if (first && second) return Number(first.word.slice("pid:".length));
        throw new Error(`it does not run: ${zksh?.stderr}`);
      },
      { message: "no beat" },
    );
  }

  /** Waits for beats that are newer than this moment. */
  async goesOn(): Promise<void> {
    const now = monotonicMs();
    await eventually(() => expect(this.lastAt).toBeGreaterThan(now), {
      message: "it does not beat",
    });
  }

  get lastAt(): number {
    return this.lines.at(-1)?.at ?? Number.NaN;
  }

  get signals(): string[] {
    return this.lines.map(({ word }) => word).filter((word) => word.startsWith("SIG"));
  }

  /** When it got the signal first. */
  at(signal: string): number {
    return this.lines.find(({ word }) => word === signal)?.at ?? Number.NaN;
  }

  /** Lets it end, with 7. */
  end(): void {
    writeFileSync(`${this.file}.end`, "");
  }
}

/** The NDJSON lines of `--json`. */
export function eventsOf({ stderr }: Pick<ZkshResult, "stderr">): Record<string, unknown>[] {
  return stderr
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** For failures: its number, what it runs and where in the kernel it waits. */
function stateOf(pid: number): string {
  const read = (name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "utf8").replaceAll("\0", " ");
    } catch (error) {
      return String(error);
    }
  };
  return `${pid} ${read("cmdline")}in ${read("wchan")} ${read("status").split("\n")[2]}`;
}

/** False when there is none any more. */
export function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
