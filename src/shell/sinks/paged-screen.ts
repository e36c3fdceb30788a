import { Writable } from "node:stream";
import { brokenPipe, type Io, type Output } from "../../io/io.ts";
import type { ShellChild } from "../../processes/child-requests.ts";
import { displayWidth } from "../../render/display-width.ts";

/** Results of a slow walk are shown after this time, before they fill the screen. */
const HOLD_MS = 200;
/** What is said beside the results waits for the end of the pager, up to this many bytes. */
const MAX_SAID = 1024 * 1024;

export interface PagedScreenOptions {
  readonly io: Io;
  /** Starts the pager; undefined when there is none. */
  start(): Promise<ShellChild | undefined>;
  /** The pager has ended before the results. */
  onQuit(): void;
}

/**
 * Takes results for a terminal. As long as they fit the screen they are written to it; when they do
 * not, the pager gets all of them, and what the terminal shows of them already is taken back.
 */
export class PagedScreen {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly #options: PagedScreenOptions;
  #state: "holding" | "shown" | "paging" | "plain" = "holding";
  #held: Buffer[] = [];
  /** The lines of the screen that the held results take; the last one may go on. */
  #rows = 0;
  #lastLine = "";
  #timer: NodeJS.Timeout | undefined;
  #pager: ShellChild | undefined;
  #isFinished = false;
  #said: Buffer[] = [];
  #saidBytes = 0;

  constructor(options: PagedScreenOptions) {
    this.#options = options;
    const { stdout, stderr } = options.io;
    this.stdout = like(stdout, (chunk) => this.#take(chunk));
    this.stderr = like(stderr, (chunk) => this.#say(chunk));
  }

  /** The pager has the screen. */
  get isPaging(): boolean {
    return this.#state === "paging";
  }

  /** Resolves when everything is on the terminal, and the pager has ended. */
  async finish(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#state === "holding") await this.#show();
    this.#isFinished = true;
    const pager = this.#pager;
    if (!pager) return;
    pager.stdin.end();
    await pager.ended;
    await this.#write(this.#options.io.stderr, Buffer.concat(this.#said)).catch(() => {});
  }

  /** Stops the pager. */
  stop(): void {
    this.#pager?.stop();
  }

  async #take(chunk: Buffer): Promise<void> {
    const { stdout } = this.#options.io;
    if (this.#state === "paging") return this.#page(chunk);
    if (this.#state === "plain") return this.#write(stdout, chunk);
    const shown = this.#rows;
    this.#count(chunk);
    this.#held.push(chunk);
    // The last line of the screen is for the prompt.
    if (this.#rows >= (stdout.rows ?? Number.POSITIVE_INFINITY)) return this.#open(shown);
    if (this.#state === "shown") return this.#write(stdout, chunk);
    this.#timer ??= setTimeout(() => void this.#show().catch(() => {}), HOLD_MS);
  }

  #count(chunk: Buffer): void {
    const lines = (this.#lastLine + chunk.toString()).split("\n");
    const { columns } = this.#options.io.stdout;
    this.#lastLine = lines.pop() ?? "";
    for (const line of lines) this.#rows += Math.max(1, Math.ceil(displayWidth(line) / columns));
  }

  async #show(): Promise<void> {
    const held = Buffer.concat(this.#held);
    this.#state = "shown";
    if (held.length > 0) await this.#write(this.#options.io.stdout, held);
  }

  async #open(shownRows: number): Promise<void> {
    clearTimeout(this.#timer);
    const { io, start, onQuit } = this.#options;
    const isShown = this.#state === "shown";
    const all = Buffer.concat(this.#held);
    this.#held = [];
    // Taken back before the pager draws.
    if (isShown && shownRows > 0)
      await this.#write(io.stdout, Buffer.from(`\x1b[${shownRows}A\r\x1b[J`));
    const pager = await start();
    if (!pager) {
      this.#state = "plain";
      return this.#write(io.stdout, all);
    }
    this.#state = "paging";
    this.#pager = pager;
    void pager.ended.then(() => !this.#isFinished && onQuit());
    return this.#page(all);
  }

  #page(chunk: Buffer): Promise<void> {
    const { stdin } = this.#pager ?? {};
    return new Promise((resolve, reject) => {
      if (!stdin) return resolve();
      stdin.write(chunk, (error) => (error ? reject(brokenPipe(error)) : resolve()));
    });
  }

  async #say(chunk: Buffer): Promise<void> {
    if (this.#state !== "paging") return this.#write(this.#options.io.stderr, chunk);
    this.#saidBytes += chunk.length;
    if (this.#saidBytes <= MAX_SAID) this.#said.push(chunk);
  }

  #write({ stream }: Output, bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/** The same terminal with another stream. */
function like(output: Output, take: (chunk: Buffer) => Promise<void>): Output {
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      take(chunk).then(() => done(), done);
    },
  });
  // As with the real stream, the error goes to the writer only.
  stream.on("error", () => {});
  return Object.create(output, { stream: { value: stream } });
}
