import type { ChildProcess } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sleep } from "./eventually.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import { freePort, isListening } from "./free-port.ts";
import { archiveFlags, spawnJava } from "./java.ts";
import { ended, removeDirectory, temporaryDirectory } from "./tracked-process.ts";

const READY_WITHIN_MS = 90_000;
const STOPPED_WITHIN_MS = 5_000;
/**
 * A server that is just starting may leave a question without an answer: one that comes between the
 * opening of its port and that of its database makes it fail (NullPointerException in removeCnxn).
 * One start in five meets that moment.
 */
export const ASK_AGAIN_MS = 300;
/** TTL nodes are off by default. */
const EXTENDED_TYPES = "-Dzookeeper.extendedTypesEnabled=true";

export interface ServerOptions {
  /**
   * Milliseconds; sessions may live from twice as long up to a minute, and expire on a multiple of
   * it.
   */
  readonly tickTime?: number;
  readonly port?: number;
  /** Lines for the configuration file; they win over ours. */
  readonly config?: Readonly<Record<string, string>>;
  /** Added to the flags that make the JVM start quickly; they win over ours. */
  readonly jvmFlags?: readonly string[];
  /** A command that starts the server in its own place, such as `nsenter --net=FILE`. */
  readonly through?: readonly string[];
}

/** How a server process is started. */
export interface Launch extends ServerOptions {
  readonly port: number;
  /**
   * Part of an ensemble: its `server.N` line gives the client port, and alone it need not serve.
   */
  readonly isMember: boolean;
  /** The address that it listens on; 127.0.0.1 unless told. */
  readonly host?: string;
}

/**
 * Starts a standalone Apache ZooKeeper on 127.0.0.1 and waits until it serves. The caller stops it.
 */
export async function startServer(options: ServerOptions = {}): Promise<ZooKeeperServer> {
  const server = new ZooKeeperServer({
    ...options,
    port: options.port ?? (await freePort()),
    isMember: false,
  });
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** A real server in a process of its own, with everything that can happen to a process. */
export class ZooKeeperServer {
  readonly host: string;
  readonly port: number;
  readonly address: string;
  readonly dataDir: string;
  readonly #launch: Launch;
  readonly #directory = temporaryDirectory("server");
  #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #isPaused = false;
  #lastLog = "";

  constructor(launch: Launch) {
    this.#launch = launch;
    this.#settings = launch.config ?? {};
    this.host = launch.host ?? "127.0.0.1";
    this.port = launch.port;
    this.address = `${this.host}:${launch.port}`;
    this.dataDir = join(this.#directory, "data");
    mkdirSync(this.dataDir);
    writeFileSync(this.#file("zoo.cfg"), this.#config());
  }

  /** The process's id; 0 when there is none. */
  get pid(): number {
    return this.isRunning ? (this.#child?.pid ?? 0) : 0;
  }

  get isRunning(): boolean {
    return (
      this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
    );
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Starts the process and waits until it is ready. */
  async start(): Promise<void> {
    if (this.isRunning) throw new Error(`${this.address} is running already`);
    const log = openSync(this.#file("log"), "a");
    const { isMember, jvmFlags = [], through = [] } = this.#launch;
    const mainClass = `org.apache.zookeeper.server.${isMember ? "quorum.QuorumPeerMain" : "ZooKeeperServerMain"}`;
    const flags = [...archiveFlags(), EXTENDED_TYPES, ...jvmFlags];
    this.#child = spawnJava([...flags, mainClass, this.#file("zoo.cfg")], {
      cwd: this.#directory,
      through,
      stdio: ["ignore", log, log],
    });
    this.#child.once("error", (error) => appendFileSync(this.#file("log"), `${error.message}\n`));
    closeSync(log);
    this.#isPaused = false;
    await this.#ready(this.#child);
  }

  /** Ends it with SIGTERM and removes its data. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    this.#lastLog = this.log();
    removeDirectory(this.#directory);
  }

  /** Ends it with SIGKILL; its data stay for {@link restart}. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** SIGSTOP: the kernel goes on accepting connections, nobody answers them. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
    this.#isPaused = true;
  }

  /** SIGCONT. */
  resume(): void {
    this.#child?.kill("SIGCONT");
    this.#isPaused = false;
  }

  /**
   * Starts it again with the same port and data; one that is still running is stopped first, in
   * order.
   */
  async restart(): Promise<void> {
    await this.#end("SIGTERM");
    await this.start();
  }

  /** Changes lines of the configuration file; they count from the next start on. */
  configure(config: Readonly<Record<string, string>>): void {
    this.#settings = { ...this.#settings, ...config };
    writeFileSync(this.#file("zoo.cfg"), this.#config());
  }

  /** What it has written so far, warnings and errors; goes into failure messages. */
  log(): string {
    return existsSync(this.#file("log")) ? readFileSync(this.#file("log"), "utf8") : this.#lastLog;
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    child.kill(signal);
    // A stopped process takes SIGTERM only after it has been continued.
    if (this.#isPaused) this.resume();
    const timer = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
    await ended(child);
    clearTimeout(timer);
  }

  async #ready(child: ChildProcess): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await this.#answers().catch(() => false))) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the server ended:\n${this.log()}`);
      if (performance.now() > deadline) throw new Error(`the server is not ready:\n${this.log()}`);
      await sleep(20);
    }
  }

  async #answers(): Promise<boolean> {
    // Somebody else on this port would answer as well; the working directory tells whose answer it
    // is.
    const environment = await fourLetterWord(this.address, "envi", ASK_AGAIN_MS);
    if (!environment.includes(`user.dir=${this.#directory}\n`)) return false;
    if (this.#launch.isMember) return true;
    if (!(await fourLetterWord(this.address, "srvr", ASK_AGAIN_MS)).includes("Mode: "))
      return false;
    // The secure port opens after the plain one has begun to serve.
    const securePort = this.#settings.secureClientPort;
    return securePort === undefined || isListening(Number(securePort));
  }

  #config(): string {
    const { tickTime = 500, port, isMember } = this.#launch;
    const lines: Record<string, string> = {
      tickTime: String(tickTime),
      dataDir: this.dataDir,
      ...(isMember ? {} : { clientPort: String(port), clientPortAddress: this.host }),
      maxClientCnxns: "0",
      maxSessionTimeout: "60000",
      "admin.enableServer": "false",
      "4lw.commands.whitelist": "*",
      // A killed process loses nothing that the kernel has; only a crash of the machine would.
      forceSync: "no",
      ...this.#settings,
    };
    return Object.entries(lines)
      .map(([key, value]) => `${key}=${value}\n`)
      .join("");
  }

  #file(name: string): string {
    return join(this.#directory, name);
  }
}
