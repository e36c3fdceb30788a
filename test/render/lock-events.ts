/** Lock events and results by hand, for the tests of what is written of them. */
import type { Contending, LockEvent, Waiting } from "../../src/recipes/locks/events.ts";
import type { LockMode } from "../../src/recipes/locks/holder-record.ts";
import type { View } from "../../src/render/renderer.ts";
import { plainTheme } from "../../src/render/theme.ts";
import type { LockProgress, LockProgressResult, LockStep } from "../../src/results/locks.ts";

export const NOW = Date.UTC(2026, 10, 16, 4, 42, 11);
const UUID = "6b0e1c52-7f0a-4c7c-9a0e-0d1b2c3d4e5f";

export function view(more: Partial<View> = {}): View {
  return {
    isTTY: true,
    columns: 80,
    rows: 24,
    theme: plainTheme,
    isQuiet: false,
    now: () => NOW,
    ...more,
  };
}

export function ticket(number: number, label = "lock-", path = "/deploy"): string {
  return `${path}/_c_${UUID}-${label}${String(number).padStart(10, "0")}`;
}

export function party(who: string, number: number, more: Partial<Contending> = {}): Contending {
  return {
    node: ticket(number),
    mode: "exclusive",
    client: "zksh/0.1.0",
    session: 0x100006285b70000n,
    token: 100n,
    who,
    queuedAt: NOW - 60_000,
    isAskedToYield: false,
    ...more,
  };
}

export const ann = (more: Partial<Contending> = {}) =>
  party("ann@web3", 5, {
    pid: 4711,
    cmd: "deploy.sh",
    why: "release 42",
    acquiredAt: NOW - 12_000,
    ...more,
  });
export const bob = (more: Partial<Contending> = {}) => party("bob@web1", 6, { pid: 881, ...more });

export function waiting(more: Partial<Waiting> = {}): Waiting {
  const holders = more.holders ?? [ann()];
  const waiters = more.waiters ?? [];
  const aheadBy = waiters.at(-1) ?? holders.at(-1);
  return {
    event: "waiting",
    path: "/deploy",
    node: ticket(7),
    mode: "exclusive",
    position: waiters.length + 1,
    of: waiters.length + 1,
    inFront: holders.length + waiters.length,
    ahead: aheadBy?.node.slice(aheadBy.node.lastIndexOf("/") + 1) ?? "",
    ...(aheadBy && { aheadBy }),
    watches: "ticket",
    ...(holders[0] && { holder: holders[0] }),
    holders,
    holderCount: holders.length,
    waiters,
    waiterCount: waiters.length,
    ...more,
  };
}

export function acquired(
  more: Partial<Extract<LockEvent, { event: "acquired" }>> = {},
): Extract<LockEvent, { event: "acquired" }> {
  const { mode = "exclusive" } = more;
  return {
    event: "acquired",
    path: "/deploy",
    node: ticket(7),
    token: 115n,
    waitedMs: 31_000,
    mode,
    hasWaited: true,
    ...more,
  };
}

export function told(
  progress: LockProgress,
  steps: readonly LockStep[] = [],
  more: Partial<LockProgressResult> = {},
): LockProgressResult {
  const mode: LockMode = "mode" in progress ? progress.mode : "exclusive";
  return {
    kind: "lock-progress",
    progress,
    at: NOW,
    since: NOW - 16_000,
    steps,
    ticket: ticket(7),
    mode,
    ...more,
  };
}
