import { Random } from "../test/support/random.ts";

/** The same orders in every run. */
const SEED = 1;

/** One of those who are measured: does the work once. */
export interface Contestant<Sample> {
  readonly name: string;
  readonly run: (round: number) => Promise<Sample>;
  /** Where one run takes very long. Left out: every round. */
  readonly rounds?: number;
}

/** What was measured, by who it was. */
export type Samples<Sample> = ReadonlyMap<string, readonly Sample[]>;

/**
 * Lets everybody do the work in every round, each time in another order: on a machine whose speed
 * changes nobody gets the better half, and nobody always comes behind the same one, who may have
 * left a busy server and cold caches. Gives the samples of each by name.
 */
export async function takeTurns<Sample>(
  rounds: number,
  contestants: readonly Contestant<Sample>[],
): Promise<Samples<Sample>> {
  const samples = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]));
  const random = new Random(SEED);
  for (let round = 0; round < rounds; round++) {
    for (const { name, run, rounds: own = rounds } of random.shuffled(contestants)) {
      if (round < own) samples.get(name)?.push(await run(round));
    }
  }
  return samples;
}

/** One figure of samples that have several. */
export function figures<Sample>(
  samples: Samples<Sample>,
  of: (sample: Sample) => number,
): Samples<number> {
  return new Map([...samples].map(([name, own]) => [name, own.map(of)]));
}
