/**
 * Collects typed lines into complete texts: those that came early wait their turn, those with an
 * open quote go on.
 */
import { lex } from "../parsing/lexer.ts";
import { UnclosedQuoteError } from "../parsing/script-text.ts";

export interface StatementReaderOptions {
  /** Whether a quote may span lines. */
  readonly continuesQuotes: boolean;
  /** Begins to show the prompt and what is typed. */
  show(): void;
  hide(): void;
  /** Shows a line that came while another was running. */
  showQueued(line: string): void;
  /** A quote was never closed. */
  onUnclosed(error: UnclosedQuoteError): Promise<void>;
}

export class StatementReader {
  readonly #options: StatementReaderOptions;
  /** Lines that were typed or pasted while another was running. */
  readonly #queue: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  /** What an open quote has collected so far. */
  #begun = "";
  #isOver = false;

  constructor(options: StatementReaderOptions) {
    this.#options = options;
  }

  /** A quote is open. */
  get isContinued(): boolean {
    return this.#begun !== "";
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next complete text; undefined when there will be no more. */
  async read(): Promise<string | undefined> {
    for (;;) {
      const line = await this.#next();
      if (line === undefined) {
        if (this.#isOver) return undefined;
        await this.#giveUpQuote();
        continue;
      }
      const text = this.isContinued ? `${this.#begun}\n${line}` : line;
      const isOpen = this.#options.continuesQuotes && lex(text).unclosed !== undefined;
      this.#begun = isOpen ? text : "";
      if (!isOpen) return text;
    }
  }

  typed(line: string): void {
    if (this.#waiting) this.#answer(line);
    else this.#queue.push(line);
  }

  /** Ctrl-D: gives up an open quote, or ends it all. */
  endOfInput(): void {
    if (!this.isContinued) this.#isOver = true;
    this.#answer(undefined);
  }

  /** No more lines, whatever has been typed. */
  stop(): void {
    this.#isOver = true;
    this.#answer(undefined);
  }

  /** Ctrl-C: forgets what was begun and what waits. */
  forget(): void {
    this.#queue.length = 0;
    this.#begun = "";
  }

  async #next(): Promise<string | undefined> {
    if (this.#isOver) return undefined;
    const queued = this.#queue.shift();
    if (queued !== undefined) {
      this.#options.showQueued(queued);
      return queued;
    }
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#options.show();
    });
  }

  #answer(line: string | undefined): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    this.#options.hide();
    waiting(line);
  }

  async #giveUpQuote(): Promise<void> {
    const { unclosed } = lex(this.#begun);
    this.#begun = "";
    if (unclosed)
      await this.#options.onUnclosed(
        new UnclosedQuoteError(unclosed.quote, unclosed.line, unclosed.column),
      );
  }
}
