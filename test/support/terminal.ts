import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import {
  ended,
  isRunning,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "./tracked-process.ts";

const run = promisify(execFile);
const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");

/** A tmux server of our own: real terminals without a screen. The caller stops it. */
export async function startTerminals(): Promise<Terminals> {
  const terminals = new Terminals();
  await eventually(() => terminals.tmux("list-sessions"), { message: "tmux did not start" });
  return terminals;
}

export interface TerminalOptions {
  readonly args?: readonly string[];
  /** What is run with them instead of zksh. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly columns?: number;
  readonly rows?: number;
  /** Run in the terminal before the program: `stty cols 0`. */
  readonly before?: string;
}

export class Terminals {
  readonly #socket = `zksh-${randomUUID()}`;
  // In the foreground, so that it cannot outlive us.
  readonly #server = spawnTracked("tmux", ["-D", "-L", this.#socket, "-f", "/dev/null"], {
    stdio: "ignore",
  });
  readonly #directory = temporaryDirectory("terminals");
  #count = 0;

  async tmux(...args: readonly string[]): Promise<string> {
    // No session yet is no failure.
    const { stdout } = await run("tmux", ["-L", this.#socket, "-f", "/dev/null", ...args]).catch(
      (error) => {
        if (/no sessions|no server running on .* yet/.test(String(error))) return { stdout: "" };
        throw error;
      },
    );
    return stdout;
  }

  /** Starts zksh in a terminal; what is left of it there afterwards can still be read. */
  async open(options: TerminalOptions = {}): Promise<Terminal> {
    const {
      args = [],
      command = [process.execPath, PROGRAM],
      env = {},
      columns = 100,
      rows = 40,
      before = ":",
    } = options;
    const home = options.home ?? join(this.#directory, `home-${++this.#count}`);
    const name = `t${++this.#count}`;
    const file = (what: string) => join(this.#directory, `${name}.${what}`);
    const variables = {
      HOME: home,
      PATH: process.env.PATH ?? "",
      LANG: "C.UTF-8",
      TERM: "screen-256color",
      ...env,
    };
    const assignments = Object.entries(variables).map(([key, value]) => `${key}=${quote(value)}`);
    const program = [...command, ...args].map(quote).join(" ");
    const script = `mkdir -p ${quote(home)}
${before}
stty -a > ${file("before")}
env -i ${assignments.join(" ")} sh -c 'echo $$ > ${file("pid")}; exec "$@"' - ${program}
code=$?
stty -a > ${file("after")}
echo $code > ${file("code")}
echo "[left with $code]"
exec cat
`;
    writeFileSync(file("sh"), script);
    await this.tmux(
      "new-session",
      "-d",
      "-s",
      name,
      "-x",
      String(columns),
      "-y",
      String(rows),
      `sh ${file("sh")}`,
    );
    return new Terminal(this, { name, home, file });
  }

  /**
   * Terminals that nobody reads: what programs write to them goes as far as the kernel's buffers.
   */
  pause(): void {
    this.#server.kill("SIGSTOP");
  }

  resume(): void {
    this.#server.kill("SIGCONT");
  }

  #programs(): number[] {
    const files = readdirSync(this.#directory).filter((name) => name.endsWith(".pid"));
    return files
      .map((name) => Number(readFileSync(join(this.#directory, name), "utf8")))
      .filter((pid) => pid > 0);
  }

  async stop(): Promise<void> {
    await this.tmux("kill-server").catch(() => {});
    await ended(this.#server);
    // They write their histories when their terminal has gone.
    await eventually(() => this.#programs().every((pid) => !isRunning(pid)), {
      message: "a program outlives its terminal",
    });
    removeDirectory(this.#directory);
  }
}

/** One terminal with zksh in it. */
export class Terminal {
  readonly home: string;
  readonly #terminals: Terminals;
  readonly #name: string;
  readonly #file: (what: string) => string;

  constructor(
    terminals: Terminals,
    { name, home, file }: { name: string; home: string; file: (what: string) => string },
  ) {
    this.#terminals = terminals;
    this.#name = name;
    this.#file = file;
    this.home = home;
  }

  /** zksh's own process. */
  get pid(): number {
    return Number(readFileSync(this.#file("pid"), "utf8"));
  }

  /** Keys by tmux's names: `C-c`, `Tab`, `Enter`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#terminals.tmux("send-keys", "-t", this.#name, ...keys);
  }

  async type(text: string): Promise<void> {
    await this.#terminals.tmux("send-keys", "-t", this.#name, "-l", "--", text);
  }

  /** Types a line and Enter. */
  async enter(line: string): Promise<void> {
    await this.type(line);
    await this.press("Enter");
  }

  async paste(text: string): Promise<void> {
    writeFileSync(this.#file("paste"), text);
    await this.#terminals.tmux("load-buffer", "-b", this.#name, this.#file("paste"));
    await this.#terminals.tmux("paste-buffer", "-p", "-b", this.#name, "-t", this.#name);
  }

  async resize(columns: number, rows = 40): Promise<void> {
    await this.#terminals.tmux(
      "resize-window",
      "-t",
      this.#name,
      "-x",
      String(columns),
      "-y",
      String(rows),
    );
  }

  /** Takes the terminal away under the program. */
  async close(): Promise<void> {
    await this.#terminals.tmux("kill-session", "-t", this.#name);
  }

  /** What was ever shown, long lines joined, without the empty ones at the end. */
  async screen(): Promise<string> {
    const text = await this.#terminals.tmux(
      "capture-pane",
      "-p",
      "-J",
      "-S",
      "-",
      "-t",
      this.#name,
    );
    return text
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  /** The numbers of the SGR sequences with which what was ever shown is painted. */
  async colorCodes(): Promise<ReadonlySet<number>> {
    const text = await this.#terminals.tmux(
      "capture-pane",
      "-e",
      "-p",
      "-S",
      "-",
      "-t",
      this.#name,
    );
    const lists = text.split("\u001b[").flatMap((part) => /^([\d;]+)m/.exec(part)?.[1] ?? []);
    return new Set(lists.flatMap((list) => list.split(";").map(Number)));
  }

  /** Waits until the screen has the text, or matches. */
  async shows(wanted: string | RegExp, timeoutMs = 60_000): Promise<string> {
    return eventually(
      async () => {
        const screen = await this.screen();
        if (typeof wanted === "string") expect(screen).toContain(wanted);
        else expect(screen).toMatch(wanted);
        return screen;
      },
      { timeoutMs, message: `the terminal does not show ${wanted}` },
    );
  }

  /** Waits until the last line, where one types, is as wanted. */
  async endsWith(wanted: string | RegExp, timeoutMs?: number): Promise<string> {
    const pattern =
      typeof wanted === "string" ? wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : wanted.source;
    return this.shows(new RegExp(`(?:${pattern})$`), timeoutMs);
  }

  /** Waits until zksh has ended: its code, and the terminal's settings before and after. */
  async left(): Promise<{ code: number; before: string; after: string }> {
    await eventually(
      () => existsSync(this.#file("code")) && readFileSync(this.#file("code"), "utf8") !== "",
      {
        message: "zksh did not end",
      },
    );
    const read = (what: string) => readFileSync(this.#file(what), "utf8");
    return { code: Number(read("code")), before: read("before"), after: read("after") };
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
