import type { HolderName } from "./holders.ts";
import type { Round } from "./round.ts";
import type { Scenario } from "./scenarios.ts";

export interface Outcome {
  readonly scenario: Scenario;
  readonly rounds: readonly Round[];
  /** Why the scenario failed; empty when it passed. */
  readonly problems: readonly string[];
}

/** One line about a round; times since the fault. */
export function roundLine({ name }: Scenario, number: number, round: Round): string {
  const { holderUntilMs, nextFromMs, marginMs, holder, states, acquisitions } = round;
  const hasOverlap = round.overlaps.length > 0;
  const verdict = hasOverlap
    ? `TWO HOLDERS, the old one for ${seconds(-marginMs)} more`
    : `margin ${seconds(marginMs)}`;
  const told = states === "" ? "" : `; told ${states}`;
  return (
    `${name} ${number}: ${acquisitions} acquisitions, holder until ${seconds(holderUntilMs)} (${holder.outcome}), ` +
    `next from ${seconds(nextFromMs)}, ${verdict}${told}`
  );
}

/** All rounds, one line a scenario, as Markdown; ranges are from the least to the greatest. */
export function table(outcomes: readonly Outcome[], holder: HolderName): string {
  const head = [
    "scenario",
    "rounds",
    "acquisitions",
    "overlaps",
    "stopped",
    `${holder} until, s`,
    "next from, s",
    "smallest margin, s",
  ];
  const rows = outcomes.map(({ scenario, rounds }) => [
    scenario.name,
    String(rounds.length),
    String(sum(rounds.map(({ acquisitions }) => acquisitions))),
    String(sum(rounds.map(({ overlaps }) => overlaps.length))),
    String(rounds.filter(({ holder: { outcome } }) => outcome !== "0").length),
    range(rounds.map(({ holderUntilMs }) => holderUntilMs)),
    range(rounds.map(({ nextFromMs }) => nextFromMs)),
    rounds.length === 0 ? "-" : number(Math.min(...rounds.map(({ marginMs }) => marginMs))),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function range(values: readonly number[]): string {
  if (values.length === 0) return "-";
  const [least, most] = [number(Math.min(...values)), number(Math.max(...values))];
  return least === most ? least : `${least} to ${most}`;
}

function seconds(ms: number): string {
  return `${number(ms)} s`;
}

function number(ms: number): string {
  return (ms / 1_000).toFixed(2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
