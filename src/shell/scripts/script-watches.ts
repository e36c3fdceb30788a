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

/** Writes the watch events that arrive while a script runs. */
export class ScriptWatches {
  readonly listener: WatchListener;
  #written: Promise<void> = Promise.resolve();

  constructor({ state, renderer, output }: ScriptWatchesOptions) {
    const print = (text: string | Uint8Array) => {
      this.#written = output.write({ out: text }) ?? output.flush();
      // flush() throws the error.
      this.#written.catch(() => {});
    };
    this.listener = watchPrinter({ state, renderer, print, onLost: () => {} });
  }

  /** Resolves when all events so far are written; throws write errors. */
  async flush(): Promise<void> {
    await this.#written;
  }
}

/** Returns true if the line sets a watch: events may come at any time after it. */
export function setsWatch({ entry, command, args, options }: Invocation): boolean {
  if (entry.group === "watches" || args.watch === true || options.watch === true) return true;
  return command.effect === "read" && Array.isArray(args.paths) && args.paths.some(isOldWatch);
}
