import { type Figure, figureOf } from "./statistics.ts";
import type { Samples } from "./take-turns.ts";

export type Goal = { readonly atMost: number } | { readonly atLeast: number };

interface Peer {
  readonly name: string;
  readonly samples: readonly number[];
  /** What zksh : peer should be. Left out: shown for comparison only. */
  readonly goal?: Goal;
}

/** One measured piece of work: what zksh needed, in each round, and what others needed for the same. */
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
  /** By name, what zksh : peer should be. */
  readonly peers?: Readonly<Record<string, Goal | "no goal">>;
}

/** A row of those who took turns, by the names that they had there. */
export function rowFrom(samples: Samples<number>, { zksh = "zksh", peers = {}, ...row }: Comparison): Row {
  const of = (name: string) => samples.get(name) ?? [];
  const beside = Object.entries(peers).map(([name, goal]) => ({
    name,
    samples: of(name),
    ...(goal !== "no goal" && { goal }),
  }));
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
}

export function judge({ work, unit, zksh: samples, goal, peers = [] }: Row): Verdict[] {
  const zksh = figureOf(samples);
  const alone: Verdict[] =
    goal || peers.length === 0 ? [{ work, unit, zksh, ...(goal && { goal, met: isMet(goal, zksh.median) }) }] : [];
  const besides = peers.map((peer): Verdict => {
    const peerFigure = figureOf(peer.samples);
    const ratio = zksh.median / peerFigure.median;
    const judged = peer.goal && { goal: peer.goal, met: isMet(peer.goal, ratio) };
    return { work, unit, zksh, peer: peer.name, peerFigure, ratio, ...judged };
  });
  return [...alone, ...besides];
}

function isMet(goal: Goal, value: number): boolean {
  return "atMost" in goal ? value <= goal.atMost : value >= goal.atLeast;
}
