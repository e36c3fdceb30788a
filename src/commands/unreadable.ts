/**
 * What the commands that read whole trees say of znodes that cannot be read: each is named on
 * stderr, the others go on, and the exit code is 8.
 */
import { PartialError } from "../errors.ts";
import { refusalOf, type TreeFailure } from "../recipes/trees/tree-failures.ts";
import type { FailedResult } from "../results/znodes.ts";
import { ancestors } from "../session/path.ts";

/** Of those that are named one by one; the summary has their number. */
const MAX_NAMED = 20;

export class Unreadable {
  readonly #failures = new Map<string, TreeFailure>();

  /** Throws what concerns the whole session rather than one znode. */
  readonly onFailure = (path: string, error: Error): void => {
    this.#failures.set(path, { path, error: refusalOf(error) });
  };

  /** Whether the znode at `path`, or one above it, could not be read: nothing is known of it. */
  covers(path: string): boolean {
    if (this.#failures.size === 0) return false;
    return ancestors(path).some((above) => this.#failures.has(above)) || this.#failures.has(path);
  }

  get count(): number {
    return this.#failures.size;
  }

  *named(): Generator<FailedResult> {
    yield* named([...this.#failures.values()]);
  }

  /** Names them and those of the `other` side, and throws PartialError where there are any. */
  *report(other?: Unreadable): Generator<FailedResult> {
    const failures = [this, ...(other ? [other] : [])].flatMap((side) => [
      ...side.#failures.values(),
    ]);
    const [first] = failures;
    if (!first) return;
    yield* named(failures);
    const number = failures.length === 1 ? "1 znode" : `${failures.length} znodes`;
    throw new PartialError("partial", `${number} could not be read`, {
      path: first.path,
      cause: first.error,
    });
  }
}

function* named(failures: readonly TreeFailure[]): Generator<FailedResult> {
  for (const { path, error } of failures.slice(0, MAX_NAMED))
    yield { kind: "failed", what: "read", path, error };
}
