/**
 * Collects typed lines into complete texts: lines that came during a command wait, and a line with
 * an open quote continues in the next one.
 */
import { lex } from "../parsing/lexer.ts";
import { UnclosedQuoteError } from "../parsing/script-text.ts";

const LINES = { hasPipes: true };

export interface ReaderView {
  /** Shows the prompt and the typed text. */
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

  /** Returns the next complete text, or undefined at the end. */
  async read(view: ReaderView): Promise<string | undefined> {
    for (;;) {
      const line = await this.#next(view);
      if (line === undefined) {
        if (this.#isOver) return undefined;
        await this.#giveUpQuote(view);
        continue;
      }
      const text = this.isContinued ? `${this.#begun}\n${line}` : line;
      const isOpen = this.#continuesQuotes && lex(text, LINES).unclosed !== undefined;
      this.#begun = isOpen ? text : "";
      if (!isOpen) return text;
    }
  }

  typed(line: string): void {
    if (this.#waiting) this.#answer(line);
    else this.#queue.push(line);
  }

  /** Ctrl-D: discards an open quote, or ends the input. */
  endOfInput(): void {
    if (!this.isContinued) this.#isOver = true;
    this.#answer(undefined);
  }

  /** Ends the input and discards the typed lines. */
  stop(): void {
    this.#isOver = true;
    this.#answer(undefined);
  }

  /** Ctrl-C: discards the open quote and the waiting lines. */
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
    const { unclosed } = lex(this.#begun, LINES);
    this.#begun = "";
    if (unclosed)
      await view.onUnclosed(new UnclosedQuoteError(unclosed.quote, unclosed.line, unclosed.column));
  }
}
