import { measureBeatGrowth } from "./growth-beats.ts";
import { measureLockGrowth } from "./growth-locks.ts";
import { measureReadGrowth } from "./growth-reads.ts";
import { measureSessionGrowth } from "./growth-sessions.ts";
import { measureTreeGrowth } from "./growth-trees.ts";

/** How a cost grows with the size of the work: one line a size. */
export interface GrowthTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Growing {
  /** What `--only` looks for. */
  readonly name: string;
  readonly measure: (isQuick: boolean) => Promise<readonly GrowthTable[]>;
}

export const growing: readonly Growing[] = [
  {
    name: "locks",
    measure: async (isQuick) => [
      isQuick
        ? await measureLockGrowth([10, 100, 1_000], 100)
        : await measureLockGrowth([10, 100, 1_000, 5_000], 1_000),
    ],
  },
  {
    name: "sessions",
    measure: async (isQuick) => [
      await measureSessionGrowth(isQuick ? [10, 100] : [10, 100, 500, 1_000, 2_000]),
    ],
  },
  {
    name: "beats",
    measure: async (isQuick) => [
      isQuick
        ? await measureBeatGrowth([10, 100], 20)
        : await measureBeatGrowth([10, 100, 1_000], 60),
    ],
  },
  { name: "reads", measure: (isQuick) => measureReadGrowth({ quick: isQuick }) },
  { name: "trees", measure: (isQuick) => measureTreeGrowth({ quick: isQuick }) },
];
