/**
 * `--explain`: lays out the steps of a recipe, each with the ZooKeeper operation that carries it
 * out, as one would type it, its answer, and why it is done (lock-explain-step.ts has the texts).
 */
import type { LockProgressResult, UnlockedResult } from "../results/locks.ts";
import { escapeName } from "../text/escape.ts";
import { type Explanation, explainRelease, explainStep } from "./lock-explain-step.ts";
import type { StepsView } from "./renderer.ts";
import { wrapText } from "./wrap-text.ts";

/** What `result` has to explain. */
export function explained(result: LockProgressResult, now: number): readonly Explanation[] {
  const { steps, explain } = result;
  if (!explain) return [];
  return steps.map((step, index) => ({
    number: explain.firstNumber + index,
    ...explainStep(step, result, now),
  }));
}

export function explainedLines(result: LockProgressResult, view: StepsView, now: number): string {
  return explained(result, now)
    .map((one) => lines(one, view))
    .join("");
}

/** For `unlock`: what was deleted. */
export function explainedRelease({ path, mode, explain }: UnlockedResult, view: StepsView): string {
  const { nodes = [] } = explain ?? {};
  return nodes
    .map((node, index) => lines({ number: index + 1, ...explainRelease(node, mode, path) }, view))
    .join("");
}

const INDENT = "    ";

function lines(
  { number, operation, answer, why }: Explanation,
  { isTTY, columns, theme }: StepsView,
): string {
  const wrap = (text: string, indent = INDENT) => {
    const escaped = escapeName(text);
    return isTTY ? wrapText(escaped, columns - indent.length) : [escaped];
  };
  const [first = "", ...others] = wrap(operation ?? answer);
  const begin = theme.step(String(number).padStart(2));
  const head = operation === undefined ? theme.good(first) : theme.heading(first);
  const answers = operation === undefined ? [] : wrap(`→ ${answer}`).map((line) => INDENT + line);
  const reasons = wrap(why).map((line) => INDENT + theme.faint(line));
  return [
    `${begin}  ${head}`,
    ...others.map((line) => INDENT + line),
    ...answers,
    ...reasons,
    "",
  ].join("\n");
}
