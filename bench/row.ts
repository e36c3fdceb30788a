import { type Figure, figureOf, median } from "./statistics.ts";
import type { Samples } from "./take-turns.ts";

export type Goal = { readonly atMost: number } | { readonly atLeast: number };

interface Peer {
  readonly name: string;
  readonly samples: readonly number[];
  /** What zksh : peer should be. Left out: shown for comparison only. */
  readonly goal?: Goal;
  /** The least that anybody can need: where it misses the goal too, the goal is out of reach. */
  readonly limit?: { readonly name: string; readonly samples: readonly number[] };
}

/**
 * One measured piece of work: what zksh needed, in each round, and what others needed for the same.
 */
export interface Row {
  readonly work: string;
  readonly unit: string;
  readonly zksh: readonly number[];
  /** What the figure itself should be, in its unit. */
  readonly goal?: Goal;
  readonly peers?: readonly Peer[];
}

interface Comparison extends Pick<Row, "work" | "unit" | "goal"> {
  /** Under which name zksh has its samples. Left out: "zksh". */
  readonly zksh?: string;
  /** By name, what zksh : peer should be, and who shows what is possible. */
  readonly peers?: Readonly<Record<string, (Goal & { readonly limit?: string }) | "no goal">>;
}

/** A row of those who took turns, by the names that they had there. */
export function rowFrom(
  samples: Samples<number>,
  { zksh = "zksh", peers = {}, ...row }: Comparison,
): Row {
  const of = (name: string) => samples.get(name) ?? [];
  const beside = Object.entries(peers).map(([name, wanted]): Peer => {
    if (wanted === "no goal") return { name, samples: of(name) };
    const { limit, ...goal } = wanted;
    return {
      name,
      samples: of(name),
      goal,
      ...(limit && { limit: { name: limit, samples: of(limit) } }),
    };
  });
  return { ...row, zksh: of(zksh), peers: beside };
}

/** One line of the table: zksh beside one peer, or beside nobody. */
export interface Verdict {
  readonly work: string;
  readonly unit: string;
  readonly zksh: Figure;
  readonly peer?: string;
  readonly peerFigure?: Figure;
  readonly ratio?: number;
  readonly goal?: Goal;
  /** Left out where there is no goal. */
  readonly met?: boolean;
  /** Whose ratio misses the goal as well, though nobody can need less. */
  readonly outOfReach?: { readonly name: string; readonly ratio: number };
}

export function judge({ work, unit, zksh: samples, goal, peers = [] }: Row): Verdict[] {
  const zksh = figureOf(samples);
  const alone: Verdict[] =
    goal || peers.length === 0
      ? [{ work, unit, zksh, ...(goal && { goal, met: isMet(goal, zksh.median) }) }]
      : [];
  const besides = peers.map((peer): Verdict => {
    const peerFigure = figureOf(peer.samples);
    const ratio = ratioOf(samples, peer.samples);
    const beside = { work, unit, zksh, peer: peer.name, peerFigure, ratio };
    if (!peer.goal) return beside;
    const met = isMet(peer.goal, ratio);
    const least = peer.limit && {
      name: peer.limit.name,
      ratio: ratioOf(peer.limit.samples, peer.samples),
    };
    const isOutOfReach = !met && least && !isMet(peer.goal, least.ratio);
    return { ...beside, goal: peer.goal, met, ...(isOutOfReach && { outOfReach: least }) };
  });
  return [...alone, ...besides];
}

/**
 * Of those who had a turn in every round, the middle of the rounds' own ratios: a machine's speed
 * changes from one second to the next, and within a round it is much the same. Otherwise the ratio
 * of the medians.
 */
function ratioOf(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length) return median(ours) / median(theirs);
  return median(ours.map((sample, round) => sample / (theirs[round] ?? Number.NaN)));
}

function isMet(goal: Goal, value: number): boolean {
  return "atMost" in goal ? value <= goal.atMost : value >= goal.atLeast;
}
