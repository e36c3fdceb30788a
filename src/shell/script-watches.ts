import { write } from "../io/io.ts";
import type { WatchListener } from "../session/session.ts";
import type { Execution } from "./execute.ts";
import type { ShellState } from "./shell-state.ts";
import { watchPrinter } from "./watch-printer.ts";

/** Writes what watches see while a script runs. */
export class ScriptWatches {
  readonly listener: WatchListener;
  #written: Promise<void> = Promise.resolve();

  constructor({ io, renderer }: Pick<Execution, "io" | "renderer">, state: ShellState) {
    const print = (text: string | Uint8Array) => {
      this.#written = this.#written.then(() => write(io.stdout, text));
      // Whoever waits for the end is told.
      this.#written.catch(() => {});
    };
    this.listener = watchPrinter({ state, renderer, print, onLost: () => {} });
  }

  /** Resolves when everything seen so far is written; throws what writing threw. */
  async flush(): Promise<void> {
    await this.#written;
  }
}
