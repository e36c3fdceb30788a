/** Locks of the shell and of `lock PATH` without a command, and who leads: results, on stdout. */

import type { LeaderResult, UnlockedResult } from "../results/locks.ts";
import type { ResultOf } from "../results/result.ts";
import { escapeName, escapeTextControls } from "../text/escape.ts";
import { nameWithReason } from "../text/party-name.ts";
import { age } from "./age.ts";
import { explainedRelease } from "./lock-explain.ts";
import { listed, lockName } from "./lock-names.ts";
import { stepsView, tellsSteps } from "./lock-progress.ts";
import { successLine } from "./lock-steps.ts";
import { namesFor, type Rendered, type View } from "./renderer.ts";
import { type Column, tableLines } from "./table.ts";

/**
 * For people what is held and how it ends; for a script the variables that a command would find.
 */
export function textLockHeld(result: ResultOf<"lock-held">, view: View): Rendered {
  const { paths, mode, token, waitedMs, environment } = result;
  const names = paths.map((path) => lockName(path, mode));
  if (!view.isTTY) {
    const note = `holding ${escapeName(listed(names))} until stdin ends or a signal comes\n`;
    return { out: assignments(environment), ...(!view.isQuiet && { err: note }) };
  }
  if (view.isQuiet) return {};
  const what = mode === "leader" ? `leading ${listed(paths)}` : `holding ${listed(names)}`;
  const after = waitedMs === undefined ? "" : ` after ${age(waitedMs)}`;
  return { out: successLine(`${what}${after}, token ${token}; Ctrl-D releases it`, view) };
}

/** On a terminal the last step has said it already, unless the shell held the lock before. */
export function textLocked({ path, mode, token, count }: ResultOf<"locked">, view: View): Rendered {
  if (!view.isTTY || view.isQuiet) return {};
  if (count > 1)
    return { out: `${escapeName(path)} was held already (token ${token}), now ${count} times\n` };
  if (tellsSteps(view)) return {};
  const what = mode === "leader" ? `Leading ${path}` : `Locked ${lockName(path, mode)}`;
  return { out: `${escapeName(what)} (token ${token})\n` };
}

export function textUnlocked(result: UnlockedResult, view: View): Rendered {
  const { path, mode, count, explain } = result;
  const err = explain && count === 0 ? { err: explainedRelease(result, stepsView(view)) } : {};
  if (!view.isTTY || view.isQuiet) return err;
  const name = escapeName(path);
  if (count > 0) return { ...err, out: `${name} is still held: ${count} more to unlock\n` };
  return { ...err, out: mode === "leader" ? `Resigned from ${name}\n` : `Unlocked ${name}\n` };
}

/** `lock` alone. */
export function textOwnLocks({ locks }: ResultOf<"own-locks">, view: View): Rendered {
  const name = namesFor(view);
  if (!view.isTTY) return { out: locks.map(({ path }) => `${name(path)}\n`).join("") };
  if (locks.length === 0) return { out: "this shell holds no lock\n" };
  const now = view.now();
  const column = (title: string, cells: string[], least?: number): Column => ({
    title,
    cells,
    ...(least && { least }),
  });
  const { head, lines } = tableLines(
    [
      column(
        "PATH",
        locks.map(({ path }) => name(path)),
        12,
      ),
      column(
        "MODE",
        locks.map(({ mode }) => mode),
      ),
      column(
        "SINCE",
        locks.map(({ since }) => age(now - since)),
      ),
      column(
        "TOKEN",
        locks.map(({ token }) => String(token)),
      ),
      column(
        "TIMES",
        locks.map(({ count }) => String(count)),
      ),
    ],
    view.columns,
  );
  return { out: [view.theme.heading(head), ...lines, ""].join("\n") };
}

/**
 * Words that a shell can take in with `eval`. Tabs and line ends stay: they separate the parts of
 * ZK_LOCK_HELD.
 */
function assignments(environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment)
    .map(([name, value]) => `${name}=${shellWord(escapeTextControls(value))}\n`)
    .join("");
}

function shellWord(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

export function textLeader({ leader, isStream }: LeaderResult, view: View): Rendered {
  if (!leader) return { out: view.isTTY ? "no leader\n" : isStream ? "-\n" : "" };
  const name = namesFor(view);
  if (view.isTTY) return { out: `${name(nameWithReason(leader))}, token ${leader.token}\n` };
  return { out: `${name(leader.note ?? nameWithReason(leader))}\n` };
}
