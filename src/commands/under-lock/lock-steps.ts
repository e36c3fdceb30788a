import type { LockProgress, LockStep } from "../../results/locks.ts";

/** The kinds of recipes that have different steps. */
export type Layout = "queue" | "permits" | "unique";

const UNCONTENDED: Readonly<Record<Layout, readonly LockStep[]>> = {
  queue: ["ticket", "queue", "acquired"],
  permits: ["lease", "leases", "acquired"],
  unique: ["unique", "acquired"],
};

const CONTENDED: Readonly<Record<Layout, readonly LockStep[]>> = {
  queue: ["ticket", "queue", "watching"],
  permits: ["ticket", "queue", "watching"],
  unique: ["unique", "queue", "watching"],
};

/** The steps told so far about one path. */
interface Told {
  ticket?: string;
  /** The ticket and the queue were told before a watch was set. */
  isQueueTold?: boolean;
  /** The watched znode. Undefined before the first watch. */
  watched?: string | undefined;
  /** That the znode exists was told just now, with `outrun`. */
  isOutrun?: boolean;
}

/** Maps events to steps of the recipe, so that each step is told once. */
export class LockSteps {
  readonly #layout: Layout;
  readonly #isExplained: boolean;
  readonly #told = new Map<string, Told>();
  #count = 0;

  constructor(layout: Layout, { isExplained }: { readonly isExplained: boolean }) {
    this.#layout = layout;
    this.#isExplained = isExplained;
  }

  /** The ticket of this process in the queue of `path`. */
  ticket(path: string): string | undefined {
    return this.#told.get(path)?.ticket;
  }

  /** The steps, and the number of the first of them. */
  next(progress: LockProgress): {
    readonly steps: readonly LockStep[];
    readonly firstNumber: number;
  } {
    const steps = this.#stepsOf(progress);
    const firstNumber = this.#count + 1;
    this.#count += steps.length;
    return { steps, firstNumber };
  }

  #stepsOf(progress: LockProgress): readonly LockStep[] {
    const { path } = progress;
    const told = this.#of(path);
    switch (progress.event) {
      case "queued":
        told.ticket = progress.node;
        return [];
      case "waiting": {
        const watched = progress.watches === "leases" ? "leases" : progress.ahead;
        const before = told.watched;
        told.watched = watched;
        const isOutrun = told.isOutrun ?? false;
        told.isOutrun = false;
        if (before === undefined && !told.isQueueTold)
          return isOutrun ? ["queue", "watching"] : CONTENDED[this.#layout];
        return before === watched ? [] : ["watching"];
      }
      case "predecessor-gone":
      case "contender-gone":
        return ["gone"];
      case "acquired":
        this.#told.set(path, { ...told, watched: undefined, isQueueTold: false });
        return progress.hasWaited ? ["acquired"] : UNCONTENDED[this.#layout];
      case "no-permit":
        return this.#isExplained ? ["lease", "leases", "lease-back"] : [];
      case "leased": {
        const isQueueTold = told.isQueueTold || told.watched !== undefined;
        if (!this.#isExplained) return [];
        told.isQueueTold = true;
        return isQueueTold ? ["lease-kept"] : ["ticket", "queue", "lease-kept"];
      }
      case "outrun":
        told.watched = undefined;
        told.isOutrun = true;
        return ["outrun"];
      case "started":
        return ["started"];
      case "released":
        return ["released"];
      case "requeued":
        this.#told.clear();
        return [];
      default:
        return [];
    }
  }

  #of(path: string): Told {
    const known = this.#told.get(path) ?? {};
    this.#told.set(path, known);
    return known;
  }
}
