import type { Renderer } from "../../render/renderer.ts";
import type { WatchListener } from "../../session/session.ts";
import type { ShellState } from "../shell-state.ts";

interface WatchPrinterOptions {
  readonly state: ShellState;
  readonly renderer: () => Promise<Renderer>;
  print(text: string | Uint8Array): void;
  /** Called instead for a watch that ended with its session. */
  onLost(path: string): void;
}

/**
 * One listener for all watches of a shell, because that is how a watch is found again to be
 * removed.
 */
export function watchPrinter({
  state,
  renderer,
  print,
  onLost,
}: WatchPrinterOptions): WatchListener {
  return ({ type, path }) => {
    if (type === "lost") return onLost(path);
    if (!state.printsWatches) return;
    const at = Date.now();
    void renderer().then((ready) => {
      const { out } = ready.result({ kind: "watch-event", type, path, at });
      if (out !== undefined && out.length > 0) print(out);
    });
  };
}
