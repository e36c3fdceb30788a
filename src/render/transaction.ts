import type { TransactionResult, TransactionStep } from "../results/transactions.ts";
import { namesFor, type Rendered, type View } from "./renderer.ts";
import { isoTime, statLines, statTable } from "./stat.ts";

/** One line for each operation; in a pipe with tabs between the operation, path and version. */
export function textTransaction(result: TransactionResult, view: View): Rendered {
  const { steps, isDryRun, isShortLived } = result;
  const { isTTY, isQuiet } = view;
  const lines = steps.map((step) => (isTTY ? told(step, isDryRun, view) : tabbed(step, view)));
  if (isDryRun && isTTY && !isQuiet) lines.push("Nothing was done (--dry-run): it would work.\n");
  return {
    out: lines.join(""),
    ...(isShortLived &&
      !isQuiet && {
        err: "note: the session ends now, and its ephemeral znodes are deleted with it\n",
      }),
  };
}

const DONE = { create: "Created", set: "Changed", delete: "Deleted", check: "Checked" } as const;

function told(
  { op, path, stat, withStat }: TransactionStep,
  isDryRun: boolean,
  view: View,
): string {
  const name = namesFor(view)(path);
  if (isDryRun) return `would ${op} ${name}\n`;
  const version = op === "set" && stat ? ` (version ${stat.version})` : "";
  const table = withStat && stat ? statTable(stat, view.now(), view.theme) : "";
  return view.isQuiet && table === "" ? "" : `${DONE[op]} ${name}${version}\n${table}`;
}

function tabbed({ op, path, stat, withStat }: TransactionStep, view: View): string {
  const version = op === "set" && stat ? [String(stat.version)] : [];
  const lines = withStat && stat ? statLines(stat, isoTime) : "";
  return `${[op, namesFor(view)(path), ...version].join("\t")}\n${lines}`;
}
