import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { eventually, sleep } from "./eventually.ts";
import { type Interval, parseExclusionLog } from "./exclusion-log.ts";
import { compileJava, peerClassPath, spawnJava } from "./java.ts";
import { ended, removeDirectory, spawnTracked, temporaryDirectory } from "./tracked-process.ts";
import { startZksh } from "./zksh-process.ts";

const PEERS = join(import.meta.dirname, "../peers");
/** Debian's: another python3 may come first on PATH, and would not have kazoo. */
export const PYTHON = "/usr/bin/python3";
const READY_WITHIN_MS = 60_000;
const LEAVES_WITHIN_MS = 60_000;
/** How much longer a busy machine may need for what is done in no time otherwise. */
const ENOUGH_WITHIN_MS = 60_000;

/** Names of contenders with the recipe that each follows. */
export type Contenders = Readonly<Record<string, string>>;

export interface FleetOptions {
  /** What they contend for; without it, `/lock`. */
  readonly path?: string;
  /** How long each stays, at random between the two. */
  readonly workMs?: readonly [least: number, most: number];
}

/** The command line of what runs under a lock, and writes to the log while it does. */
export function workCommand(
  log: string,
  name: string,
  kind: Interval["kind"],
  seconds: number,
  isStubborn = false,
): string[] {
  const program = [PYTHON, "-I", "-S", "-B", join(PEERS, "work.py")];
  return [...program, log, name, kind, seconds.toFixed(4), ...(isStubborn ? ["stubborn"] : [])];
}

/**
 * Programs of several makers that contend for one lock, all writing to one log. Whoever asks to
 * leave a fleet is let finish: nothing is killed while it holds.
 */
export class Fleet {
  readonly path: string;
  /** Who takes part. */
  readonly contenders: string[] = [];
  /** How the runs of zksh ended: exit codes with their number. */
  readonly exits = new Map<string, number>();
  readonly #servers: string;
  readonly #directory = temporaryDirectory("fleet");
  readonly #logs: readonly string[];
  readonly #workMs: readonly [number, number];
  readonly #peers: Peer[] = [];
  readonly #loops: Promise<void>[] = [];
  #isOver = false;
  #beganNs = 0n;
  #endedNs: bigint | undefined;

  /** One log for each name in `logs`; contenders that hold several locks at once write to each. */
  constructor(
    servers: string,
    { path = "/lock", workMs = [1, 6] }: FleetOptions = {},
    logs: readonly string[] = [""],
  ) {
    this.#servers = servers;
    this.path = path;
    this.#workMs = workMs;
    this.#logs = logs.map((name) => join(this.#directory, `log${name}`));
  }

  /**
   * The recipes mutex, read, write, semaphore:N, multi:NAME,NAME (below the path), latch, and
   * writelock.
   */
  async java(contenders: Contenders, path = this.path, logs = this.#logs): Promise<void> {
    const classPath = [await compileJava(join(PEERS, "java")), peerClassPath()].join(delimiter);
    const child = spawnJava(
      [
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
        "Peer",
        ...this.#words(contenders, path, logs),
      ],
      {
        classPath,
        stdio: "pipe",
      },
    );
    await this.#join(child, contenders);
  }

  /** The recipes lock, read, write, semaphore:N. */
  async kazoo(contenders: Contenders): Promise<void> {
    const program = [
      "-B",
      join(PEERS, "kazoo_peer.py"),
      ...this.#words(contenders, this.path, this.#logs),
    ];
    await this.#join(spawnTracked(PYTHON, program, { stdio: "pipe" }), contenders);
  }

  /** zksh as a library: the recipes mutex, compat, read, write, semaphore:N. */
  async library(contenders: Contenders): Promise<void> {
    const program = [
      join(PEERS, "library-peer.js"),
      ...this.#words(contenders, this.path, this.#logs),
    ];
    await this.#join(spawnTracked(process.execPath, program, { stdio: "pipe" }), contenders);
  }

  /** A process a turn: `zksh WORDS… -- work`. */
  zksh(name: string, words: readonly string[], kind: Interval["kind"], logs = this.#logs): void {
    this.contenders.push(name);
    this.#loops.push(this.#loop(name, words, kind, logs.join(",")));
  }

  /** The log that belongs to a name given to the constructor. */
  logFile(name = ""): string {
    return join(this.#directory, `log${name}`);
  }

  /**
   * Lets them contend for a while, on a busy machine for longer, until it is enough; then lets
   * everybody finish. Gives what the log says: when it was not enough to the last, the caller finds
   * out there.
   */
  async run(
    seconds: number,
    isEnough: (intervals: Interval[]) => boolean = () => true,
  ): Promise<Interval[]> {
    this.#beganNs = process.hrtime.bigint();
    await sleep(seconds * 1000);
    const options = { timeoutMs: ENOUGH_WITHIN_MS, intervalMs: 200 };
    await eventually(() => isEnough(this.intervals()), options).catch(() => {});
    this.#endedNs = process.hrtime.bigint();
    return this.finish();
  }

  /** Whether it began while everybody was there: in {@link run}, up to its end. */
  readonly isOfRun = ({ beginNs }: Interval): boolean =>
    beginNs >= this.#beganNs && beginNs <= (this.#endedNs ?? beginNs);

  /** Waits until everybody has left; rejects when somebody failed. */
  async finish(): Promise<Interval[]> {
    this.#isOver = true;
    const results = await Promise.allSettled([
      ...this.#loops,
      ...this.#peers.map((peer) => peer.leave()),
    ]);
    const failures = results.flatMap((result) =>
      result.status === "rejected" ? [String(result.reason)] : [],
    );
    if (failures.length > 0) throw new Error(failures.join("\n"));
    return this.intervals();
  }

  intervals(name = ""): Interval[] {
    const file = this.logFile(name);
    return existsSync(file) ? parseExclusionLog(readFileSync(file, "utf8")) : [];
  }

  /** Ends whoever is still there and removes the log. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#peers.map((peer) => peer.kill()));
    await Promise.allSettled(this.#loops);
    removeDirectory(this.#directory);
  }

  #words(contenders: Contenders, path: string, logs: readonly string[]): string[] {
    const pairs = Object.entries(contenders).map(([name, recipe]) => `${name}=${recipe}`);
    return [
      this.#servers,
      path,
      logs.join(","),
      String(this.#workMs[0]),
      String(this.#workMs[1]),
      ...pairs,
    ];
  }

  async #join(child: ChildProcess, contenders: Contenders): Promise<void> {
    const peer = new Peer(child);
    this.#peers.push(peer);
    this.contenders.push(...Object.keys(contenders));
    await peer.ready();
  }

  async #loop(
    name: string,
    words: readonly string[],
    kind: Interval["kind"],
    log: string,
  ): Promise<void> {
    const [least, most] = this.#workMs;
    while (!this.#isOver) {
      const seconds = (least + Math.random() * (most - least)) / 1000;
      const args = ["-s", this.#servers, ...words, "--", ...workCommand(log, name, kind, seconds)];
      const { code, signal, stderr } = await startZksh(args, { input: "", timeoutMs: 30_000 })
        .result;
      const outcome = String(code ?? signal);
      this.exits.set(outcome, (this.exits.get(outcome) ?? 0) + 1);
      if (code !== 0) throw new Error(`zksh ${words.join(" ")} ended with ${outcome}: ${stderr}`);
    }
  }
}

/** A program that contends until its input ends. */
class Peer {
  readonly #child: ChildProcess;
  #written = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on("error", (error) => {
      this.#written += error.message;
    });
    // It may be gone when its input ends.
    child.stdin?.on("error", () => {});
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#written += chunk.toString();
      });
    }
  }

  async ready(): Promise<void> {
    const isReady = () => this.#written.includes("ready\n") || this.#hasEnded;
    await eventually(isReady, { timeoutMs: READY_WITHIN_MS, message: "a peer does not start" });
    if (this.#hasEnded) throw new Error(`a peer ended: ${this.#written}`);
  }

  /** Ends its input, waits for its end. */
  async leave(): Promise<void> {
    this.#child.stdin?.end();
    await eventually(() => this.#hasEnded, {
      timeoutMs: LEAVES_WITHIN_MS,
      message: "a peer does not leave",
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.#written}`);
    });
    if (this.#child.exitCode !== 0 || this.#written.includes("failed: ")) {
      throw new Error(
        `a peer ended with ${this.#child.exitCode ?? this.#child.signalCode}: ${this.#written}`,
      );
    }
  }

  async kill(): Promise<void> {
    if (!this.#hasEnded) this.#child.kill("SIGKILL");
    await ended(this.#child);
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
