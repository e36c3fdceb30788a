/**
 * What the commands that read whole trees say of znodes that cannot be read: each is named on
 * stderr, the others go on, and the exit code is 8.
 */
import { PartialError } from "../errors.ts";
import { refusalOf, type TreeFailure } from "../recipes/trees/tree-failures.ts";
import type { FailedResult } from "../results/znodes.ts";

/** Of those that are named one by one; the summary has their number. */
const MAX_NAMED = 20;

export class Unreadable {
  readonly #failures = new Map<string, TreeFailure>();

  /** Throws what concerns the whole session rather than one znode. */
  readonly onFailure = (path: string, error: Error): void => {
    this.#failures.set(path, { path, error: refusalOf(error) });
  };

  /** Names them, and throws PartialError where there are any. */
  *report(): Generator<FailedResult> {
    const [first] = this.#failures.values();
    if (!first) return;
    const failures = [...this.#failures.values()];
    for (const { path, error } of failures.slice(0, MAX_NAMED))
      yield { kind: "failed", what: "read", path, error };
    const number = failures.length === 1 ? "1 znode" : `${failures.length} znodes`;
    throw new PartialError("partial", `${number} could not be read`, {
      path: first.path,
      cause: first.error,
    });
  }
}
