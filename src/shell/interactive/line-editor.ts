/**
 * The line being typed: node's readline, with a prompt that can be repainted, a search, and TAB and
 * Ctrl-D of our own.
 */
import {
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  type Key,
  moveCursor,
} from "node:readline";
import { Writable } from "node:stream";
import type { Io, Output } from "../../io/io.ts";
import { ReverseSearch } from "./reverse-search.ts";

export interface EditorListener {
  onLine(line: string): void;
  /** Ctrl-C. */
  onInterrupt(): void;
  /** Ctrl-D on an empty line, or the end of the input. */
  onEnd(): void;
  /** Keys wait until it is done. */
  onTab(before: string): Promise<void>;
}

/** Undocumented members of readline, which Node's own REPL uses too. */
interface Internals {
  line: string;
  cursor: number;
  prevRows: number;
  history: string[];
  historyIndex: number;
  _ttyWrite(text: string | undefined, key: Key): void;
  _refreshLine(): void;
  clearLine(): void;
}

const PASTE_MARKS_ON = "\x1b[?2004h";
const PASTE_MARKS_OFF = "\x1b[?2004l";

export class LineEditor {
  readonly #io: Io;
  #listener: EditorListener | undefined;
  /** Newest first. */
  readonly #history: string[];
  readonly #output: GatedOutput;
  /** A dumb terminal is left to edit its own lines. */
  readonly #isDumb: boolean;
  #readline: (Interface & Internals) | undefined;
  #search: ReverseSearch | undefined;
  #prompt = "";
  #isPasting = false;
  /** Keys typed during a completion: they must not be taken for an answer to it. */
  #held: { readonly text: string | undefined; readonly key: Key }[] | undefined;

  constructor(io: Io, history: string[]) {
    this.#io = io;
    this.#history = history;
    this.#isDumb = io.env.TERM === "dumb";
    this.#output = new GatedOutput(io.stdout);
  }

  get isEmpty(): boolean {
    return (this.#readline?.line ?? "") === "";
  }

  /** The text in front of the cursor. */
  get before(): string {
    return this.#readline?.line.slice(0, this.#readline.cursor) ?? "";
  }

  /** Starts to read; `listener` hears of keys and lines until {@link close}. */
  open(listener: EditorListener): void {
    this.#listener = listener;
    // Undocumented members are only reached through this one cast.
    const readline = createInterface({
      input: this.#io.stdin.stream,
      output: this.#output,
      terminal: !this.#isDumb,
      history: this.#history,
      // readline's own history would keep lines with secrets and lines that begin with a space.
      historySize: 0,
    }) as Interface & Internals;
    this.#readline = readline;
    const isCurrent = () => this.#readline === readline;
    readline.on("line", (line) => {
      readline.historyIndex = -1;
      if (isCurrent()) listener.onLine(line);
    });
    readline.on("SIGINT", () => listener.onInterrupt());
    readline.on("close", () => isCurrent() && listener.onEnd());
    // The terminal is gone.
    readline.on("error", () => isCurrent() && listener.onEnd());
    // stdin ended while a question or a program read it, so readline gets no second end event.
    if (this.#io.stdin.stream.readableEnded) setImmediate(() => isCurrent() && listener.onEnd());
    if (this.#isDumb) return;
    // After Ctrl-Z and fg readline waits until it is told to go on.
    readline.on("SIGCONT", () => {
      this.#io.stdout.stream.write(PASTE_MARKS_ON);
      readline.resume();
    });
    const obey = readline._ttyWrite.bind(readline);
    readline._ttyWrite = (text, key) => this.#press(text, key, obey);
    this.#io.stdout.stream.write(PASTE_MARKS_ON);
  }

  /** Gives the terminal back, as it was. */
  close(): void {
    const readline = this.#readline;
    if (!readline) return;
    this.#readline = undefined;
    this.#search = undefined;
    this.#output.isOpen = false;
    if (!this.#isDumb) this.#io.stdout.stream.write(PASTE_MARKS_OFF);
    readline.close();
  }

  /** Releases the terminal while `use` runs; the typed text is restored afterwards. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    // It is lent already: a program of a line whose results another program reads.
    if (!this.#readline) return use();
    const { line, cursor } = this.#readline;
    const listener = this.#listener;
    this.close();
    try {
      return await use();
    } finally {
      if (listener) this.open(listener);
      if (this.#readline) Object.assign(this.#readline, { line, cursor });
    }
  }

  /** Shows the prompt, and what has been typed already. */
  show(prompt: string): void {
    this.#prompt = prompt;
    this.#output.isOpen = true;
    if (this.#readline) this.#readline.prevRows = 0;
    this.#paint();
  }

  /** Stores the text typed from now on without showing it. */
  hide(): void {
    this.#output.isOpen = false;
  }

  /** Changes the prompt in place. */
  repaint(prompt: string): void {
    if (prompt === this.#prompt) return;
    this.#prompt = prompt;
    if (this.#output.isOpen && !this.#isDumb) this.#paint();
  }

  /** Prints whole lines above the prompt, or just prints them when there is none. */
  print(text: string): void {
    const { stream } = this.#io.stdout;
    const readline = this.#readline;
    if (!this.#output.isOpen || !readline) {
      stream.write(text);
      return;
    }
    if (this.#isDumb) {
      stream.write(`\n${text}`);
    } else {
      cursorTo(stream, 0);
      if (readline.prevRows > 0) moveCursor(stream, 0, -readline.prevRows);
      clearScreenDown(stream);
      stream.write(text);
      readline.prevRows = 0;
    }
    this.#paint();
  }

  clearLine(): void {
    this.#readline?.clearLine();
  }

  clearScreen(): void {
    if (this.#isDumb) return;
    cursorTo(this.#io.stdout.stream, 0, 0);
    clearScreenDown(this.#io.stdout.stream);
  }

  /** Replaces the text in front of the cursor. */
  replaceBefore(text: string): void {
    const readline = this.#readline;
    if (!readline) return;
    readline.line = text + readline.line.slice(readline.cursor);
    readline.cursor = text.length;
    this.#paint();
  }

  #paint(): void {
    const readline = this.#readline;
    if (!readline) return;
    const search = this.#search;
    readline.setPrompt(search ? searchPrompt(search) : this.#prompt);
    if (this.#isDumb) readline.prompt(true);
    else readline._refreshLine();
  }

  #press(text: string | undefined, key: Key, obey: Internals["_ttyWrite"]): void {
    if (key.name === "paste-start" || key.name === "paste-end") {
      this.#isPasting = key.name === "paste-start";
      return;
    }
    if (this.#held && !(key.ctrl && key.name === "c")) {
      this.#held.push({ text, key });
      return;
    }
    if (this.#search) return this.#pressInSearch(this.#search, text, key, obey);
    if (this.#isPasting && key.name === "tab") {
      // A tab in pasted text is a tab.
      this.replaceBefore(`${this.before}\t`);
    } else if (key.name === "tab" && !key.ctrl && !key.meta && !key.shift) {
      if (this.#output.isOpen) void this.#tab(obey);
    } else if (key.ctrl && key.name === "r" && this.#output.isOpen) {
      this.#search = new ReverseSearch(this.#history, this.#readline?.line ?? "");
      this.#paint();
    } else if (key.ctrl && key.name === "d" && this.isEmpty) {
      if (this.#output.isOpen) this.#io.stdout.stream.write("\n");
      this.#listener?.onEnd();
    } else {
      if (key.ctrl && key.name === "z") this.#io.stdout.stream.write(PASTE_MARKS_OFF);
      obey(text, key);
    }
  }

  async #tab(obey: Internals["_ttyWrite"]): Promise<void> {
    this.#held = [];
    await this.#listener?.onTab(this.before).catch(() => {});
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { text, key } of held) this.#press(text, key, obey);
  }

  #pressInSearch(
    search: ReverseSearch,
    text: string | undefined,
    key: Key,
    obey: Internals["_ttyWrite"],
  ): void {
    const step = search.press({ ...key, text });
    const readline = this.#readline;
    if (!readline) return;
    readline.line = step === "cancel" ? search.original : search.line;
    readline.cursor = step === "more" ? search.cursor : readline.line.length;
    if (step !== "more") this.#search = undefined;
    this.#paint();
    if (step === "run" || step === "accept") obey(text, key);
  }
}

function searchPrompt({ query, hasFailed }: ReverseSearch): string {
  return `(${hasFailed ? "not found" : "search"}) ${query}: `;
}

/** Where readline echoes to: nowhere while a command is running. */
class GatedOutput extends Writable {
  isOpen = false;
  readonly isTTY = true;
  readonly #output: Output;

  constructor(output: Output) {
    super({ decodeStrings: false });
    this.#output = output;
    output.stream.on("resize", () => this.emit("resize"));
  }

  get columns(): number {
    return this.#output.columns;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.isOpen) this.#output.stream.write(chunk);
    done();
  }
}
