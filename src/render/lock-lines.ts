/** Queues for pipes: a line each, tabs between. */

import type { LockReport } from "../recipes/locks/inspect/inspect-lock.ts";
import { escapeControls, escapeName } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { nameParty, whoIs } from "../text/party-name.ts";
import { heldSince } from "./age.ts";
import { stateOf } from "./lock-table.ts";
import { isoTime } from "./stat.ts";
import { contenderStep, lookingSteps, sentenceOf } from "./whoholds-explain.ts";

/**
 * path, state, mode, who, pid, command, since, token, client, session, znode, reason; explained
 * also the rule and what to type to see it. Columns are added at the end only.
 */
export function plainLines(report: LockReport, isExplained = false): string {
  const { path, holders, waiters } = report;
  const looking = isExplained ? lookingSteps(report) : [];
  if (holders.length + waiters.length === 0) {
    const steps = looking.flatMap(({ says, operation }) => [says, operation]);
    return row([escapeControls(path), "free", ...steps]);
  }
  return [...holders, ...waiters]
    .map((party, index) => {
      const { mode, pid, cmd, token, client, session, node, why = "-" } = party;
      const state = stateOf(party, index, holders.length);
      const who = whoIs(party) ?? "-";
      const values = [
        path,
        state,
        mode,
        who,
        pid ?? "-",
        cmd ?? "-",
        isoTime(heldSince(party)),
        token,
        client,
      ];
      const cells = [...values, hexId(session), node, why].map((value) =>
        escapeName(String(value)),
      );
      if (!isExplained) return row(cells);
      const step = contenderStep(party, index < holders.length, report);
      const operations = [...looking, step].map(({ operation }) => operation);
      return row([...cells, sentenceOf(step), operations.join("; ")]);
    })
    .join("");
}

function row(cells: readonly string[]): string {
  return `${cells.join("\t")}\n`;
}

export function watchedLine({ path, holders, waiters }: LockReport): string {
  const waiting =
    waiters.length === 0 ? "" : `; ${waiters.length} ${waiters.length === 1 ? "waits" : "wait"}`;
  const name = escapeControls(path);
  if (holders.length === 0) return `free ${name}${waiting}\n`;
  const names = holders.map(
    (party) =>
      `${escapeName(nameParty(party))} token ${party.token}${party.revoke ? " asked to give way" : ""}`,
  );
  return `held ${name} by ${names.join(", ")}${waiting}\n`;
}
