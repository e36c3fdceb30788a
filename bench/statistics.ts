/** The middle of what was measured, and where the middle half of it lies. */
export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function figureOf(samples: readonly number[]): Figure {
  return {
    median: quantile(samples, 0.5),
    low: quantile(samples, 0.25),
    high: quantile(samples, 0.75),
  };
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Between two samples: their weighted mean. NaN without samples. */
function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
