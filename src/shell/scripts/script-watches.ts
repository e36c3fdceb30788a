import { isOldWatch } from "../../commands/several-paths.ts";
import type { Renderer } from "../../render/renderer.ts";
import type { WatchListener } from "../../session/session.ts";
import type { ResultOutput } from "../execute.ts";
import { watchPrinter } from "../interactive/watch-printer.ts";
import type { Invocation } from "../parsing/parser.ts";
import type { ShellState } from "../shell-state.ts";

interface ScriptWatchesOptions {
  readonly state: ShellState;
  readonly renderer: () => Promise<Renderer>;
  readonly output: ResultOutput;
}

/** Writes what watches see while a script runs. */
export class ScriptWatches {
  readonly listener: WatchListener;
  #written: Promise<void> = Promise.resolve();

  constructor({ state, renderer, output }: ScriptWatchesOptions) {
    const print = (text: string | Uint8Array) => {
      this.#written = output.write({ out: text }) ?? output.flush();
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

/** Events may come at any time after this line. */
export function setsWatch({ entry, command, args, options }: Invocation): boolean {
  if (entry.group === "watches" || args.watch === true || options.watch === true) return true;
  return command.effect === "read" && Array.isArray(args.paths) && args.paths.some(isOldWatch);
}
