import type { NewZnode } from "./new-znode.ts";
import type { WrittenTree } from "./write-tree.ts";

/** Where a tree is written to: znodes, or a folder; or nowhere, where it is only compared. */
export interface TreeSink {
  /**
   * Takes znodes, parents before their children. Throws ConflictError with `onConflict: "fail"`,
   * and InterruptedError when the signal is aborted.
   */
  add(znodes: readonly NewZnode[]): Promise<void>;
  /** Writes what is left. */
  finish(): Promise<WrittenTree>;
  /** The error to throw where the source, or the sink, fails with `error`. */
  stopped(error: unknown): Promise<unknown>;
}
