/**
 * How much is fuzzed, and from which seed: repeatable with ZKSH_FUZZ_SEED, longer with
 * ZKSH_FUZZ_SECONDS. `npm run test:long` takes a minute.
 */

export const SEED = Number(process.env.ZKSH_FUZZ_SEED ?? 20_261_118);

/** Of all files of this folder together. */
const SECONDS = Number(process.env.ZKSH_FUZZ_SECONDS ?? 10);

/** How many holder records records.test.ts makes. */
export const RECORDS = SECONDS < 60 ? 2_000 : 100_000;

/** Milliseconds for one of the files, by its share of the whole. */
function budgetMs(share: number): number {
  return SECONDS * 1_000 * share;
}

/** For the test runner: the budget, and time for the item that is under way when it is used up. */
export function timeoutMs(share: number): number {
  return budgetMs(share) * 2 + 60_000;
}

/** Calls `one` with a seed of its own for each item until the time is up. */
export async function forBudget(
  share: number,
  one: (seed: number) => Promise<void>,
): Promise<void> {
  const end = performance.now() + budgetMs(share);
  let seed = SEED;
  do {
    try {
      await one(seed);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`ZKSH_FUZZ_SEED=${seed} repeats this as its first item: ${message}`, {
        cause: error,
      });
    }
    seed++;
  } while (performance.now() < end);
}
