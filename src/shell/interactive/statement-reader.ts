/**
 * Collects typed lines into complete texts: those that came early wait their turn, those with an
 * open quote go on.
 */
import { lex } from "../parsing/lexer.ts";
import { UnclosedQuoteError } from "../parsing/script-text.ts";

export interface ReaderView {
  /** Begins to show the prompt and what is typed. */
  show(): void;
  hide(): void;
  /** Shows a line that came while another was running. */
  showQueued(line: string): void;
  /** A quote was never closed. */
  onUnclosed(error: UnclosedQuoteError): Promise<void>;
}

export class StatementReader {
  readonly #continuesQuotes: boolean;
  /** Lines that were typed or pasted while another was running. */
  readonly #queue: string[] = [];
  #waiting: { answer(line: string | undefined): void; readonly view: ReaderView } | undefined;
  /** The lines since an open quote. */
  #begun = "";
  #isOver = false;

  /** `continuesQuotes`: a quote may span lines. */
  constructor({ continuesQuotes }: { readonly continuesQuotes: boolean }) {
    this.#continuesQuotes = continuesQuotes;
  }

  /** A quote is open. */
  get isContinued(): boolean {
    return this.#begun !== "";
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next complete text; undefined when there will be no more. */
  async read(view: ReaderView): Promise<string | undefined> {
    for (;;) {
      const line = await this.#next(view);
      if (line === undefined) {
        if (this.#isOver) return undefined;
        await this.#giveUpQuote(view);
        continue;
      }
      const text = this.isContinued ? `${this.#begun}\n${line}` : line;
      const isOpen = this.#continuesQuotes && lex(text).unclosed !== undefined;
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

  async #next(view: ReaderView): Promise<string | undefined> {
    if (this.#isOver) return undefined;
    const queued = this.#queue.shift();
    if (queued !== undefined) {
      view.showQueued(queued);
      return queued;
    }
    return new Promise((answer) => {
      this.#waiting = { answer, view };
      view.show();
    });
  }

  #answer(line: string | undefined): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    waiting.view.hide();
    waiting.answer(line);
  }

  async #giveUpQuote(view: ReaderView): Promise<void> {
    const { unclosed } = lex(this.#begun);
    this.#begun = "";
    if (unclosed)
      await view.onUnclosed(new UnclosedQuoteError(unclosed.quote, unclosed.line, unclosed.column));
  }
}
