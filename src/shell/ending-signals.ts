import { InterruptedError } from "../errors.ts";
import { exitCodeOf } from "../exit-codes.ts";
import type { OutputWriter } from "../io/output-writer.ts";
import type { EndingSignal, Services } from "./runtime.ts";

/** How long the readers of our output may take after a signal. */
const READER_GRACE_MS = 500;

/** Turns signals that end the program into one AbortSignal and an exit code. */
export class EndingSignals {
  readonly #interrupt = new AbortController();
  readonly #writer: OutputWriter;
  readonly #stopListening: () => void;
  #exitCode: number | undefined;
  #abandoning: NodeJS.Timeout | undefined;

  constructor(services: Services, writer: OutputWriter) {
    this.#writer = writer;
    this.#stopListening = services.onSignal((signal) => this.#received(signal));
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** The program's exit code after a signal. It replaces the code of any error. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  stop(): void {
    this.#stopListening();
    clearInterval(this.#abandoning);
  }

  #received(signal: EndingSignal): void {
    const interrupted = new InterruptedError(undefined, { signal });
    this.#exitCode ??= exitCodeOf(interrupted);
    this.#interrupt.abort(interrupted);
    // A blocked reader must not stop the program from closing its session.
    this.#abandoning ??= setInterval(
      () => this.#writer.abandon(READER_GRACE_MS, interrupted),
      READER_GRACE_MS,
    );
  }
}
