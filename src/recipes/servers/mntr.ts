/** The answer to `mntr`: a name and a value on each line, with a tab between. */
import { signedFigure } from "./figures.ts";

/** ZooKeeper 3.8 has some 550; each learner and namespace adds some. */
const MAX_LINES = 20_000;

/** By name, such as `zk_watch_count`. Which names there are depends on release and role. */
export type Metrics = ReadonlyMap<string, string>;

/** Returns undefined for a text without any such line. */
export function parseMntr(answer: string): Metrics | undefined {
  const metrics = new Map<string, string>();
  for (const line of answer.split(/\r?\n/, MAX_LINES)) {
    const [, name, value] = /^(zk_[^\t]{1,200})\t(.{0,500})$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) metrics.set(name, value);
  }
  return metrics.size === 0 ? undefined : metrics;
}

/** Undefined if the server does not tell it, or if it is no number. */
export function metric(metrics: Metrics | undefined, name: string): number | undefined {
  return signedFigure(metrics?.get(name));
}
