import type { LockReport, QueueMember } from "../../src/recipes/locks/inspect/inspect-lock.ts";
import type { View } from "../../src/render/renderer.ts";
import { plainTheme } from "../../src/render/theme.ts";

export const NOW = Date.UTC(2026, 10, 16, 4, 42, 11);

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

export function queueMember(more: Partial<QueueMember> = {}): QueueMember {
  const node = more.node ?? "/deploy/_c_6b0e-lock-0000000003";
  return {
    node,
    nodes: [node],
    mode: "exclusive",
    isOurs: true,
    client: "zksh/0.1.0",
    session: 0x100006285b70000n,
    token: 8589934607n,
    who: "ann@web3",
    host: "web3.example",
    pid: 4711,
    cmd: "deploy.sh",
    queuedAt: NOW - 200_000,
    isAskedToYield: false,
    ...more,
  };
}

export const foreign: Partial<QueueMember> = { client: "Curator", isOurs: false };

/** A ticket that says nothing of its maker. */
export function nameless({
  who: _,
  host: __,
  pid: ___,
  cmd: ____,
  ...rest
}: QueueMember): QueueMember {
  return rest;
}

export function report(more: Partial<LockReport> = {}): LockReport {
  return {
    path: "/deploy",
    exists: true,
    layouts: [],
    holders: [],
    waiters: [],
    incompatibleTickets: [],
    ...more,
  };
}
