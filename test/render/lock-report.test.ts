import { describe, expect, test } from "vitest";
import type { LockReport } from "../../src/recipes/locks/inspect/inspect-lock.ts";
import { textLocks, textLocksWatched, textRevocation } from "../../src/render/lock-report.ts";
import type { View } from "../../src/render/renderer.ts";
import { createTheme } from "../../src/render/theme.ts";
import { foreign, NOW, nameless, queueMember, report, view } from "../support/lock-reports.ts";

function show(reports: readonly LockReport[], more: Partial<View> = {}): string {
  return String(textLocks({ kind: "locks", reports, deadlocks: [] }, view(more)).out);
}

describe("a queue on a terminal", () => {
  test("with all there is to say", () => {
    const revoke = { by: "eve@ops", at: new Date(NOW - 12_000).toISOString(), reason: "hotfix" };
    const holders = [queueMember({ why: "release 42", acquiredAt: NOW - 192_000, revoke })];
    const waiters = [
      nameless(queueMember({ ...foreign, token: 8589934610n, queuedAt: NOW - 12_000 })),
      queueMember({
        who: "bob@web1",
        pid: 881,
        cmd: "psql",
        token: 8589934623n,
        queuedAt: NOW - 3_000,
      }),
    ];
    expect(show([report({ holders, waiters })])).toBe(`\
/deploy: held, 2 wait
STATE     WHO       PID   CMD        SINCE  TOKEN       CLIENT
holder    ann@web3  4711  deploy.sh  3m12s  8589934607  zksh/0.1.0
          release 42; asked to release it by eve@ops 12s ago: hotfix
waiter 1  -         -     -          12s    8589934610  Curator
waiter 2  bob@web1  881   psql       3s     8589934623  zksh/0.1.0
`);
  });

  test("readers and a writer have a mode", () => {
    const holders = [queueMember({ mode: "read" }), queueMember({ mode: "read" })];
    expect(show([report({ holders, waiters: [queueMember({ mode: "write" })] })])).toBe(`\
/deploy: 2 hold it, 1 waits
STATE     MODE   WHO       PID   CMD        SINCE  TOKEN       CLIENT
holder    read   ann@web3  4711  deploy.sh  3m20s  8589934607  zksh/0.1.0
holder    read   ann@web3  4711  deploy.sh  3m20s  8589934607  zksh/0.1.0
waiter 1  write  ann@web3  4711  deploy.sh  3m20s  8589934607  zksh/0.1.0
`);
  });

  test("a semaphore has permits, a latch a leader", () => {
    const semaphore = report({
      path: "/pool",
      limit: 3,
      holders: [queueMember({ mode: "semaphore" })],
    });
    expect(show([semaphore])).toMatch(/^\/pool: 1 of 3 permits held, no waiters\n/);
    expect(show([{ ...semaphore, limit: 1 }])).toMatch(/^\/pool: 1 of 1 permit held, no waiters\n/);
    const several = report({
      path: "/pool",
      limit: 3,
      holders: [queueMember({ mode: "semaphore", permits: 2 })],
    });
    expect(show([several])).toMatch(
      /^\/pool: 2 of 3 permits held, no waiters\n.*\nholder .*\n +2 permits\n$/,
    );
    expect(show([report({ holders: [queueMember({ mode: "leader" })] })])).toMatch(
      /\nleader {2}ann/,
    );
  });

  test("long names are cut to the width, words about them wrapped", () => {
    const who = "a-rather-long-user-name@a-host-with-a-long-name";
    const why =
      "because the migration of the customers' table needs everybody else to keep out of it for a while";
    const holders = [
      queueMember({
        who,
        why,
        cmd: "/opt/company/bin/nightly-migration-of-customers.sh",
        pid: 4194303,
      }),
    ];
    const text = show([report({ holders })]);
    expect(text).toBe(`\
/deploy: held, no waiters
STATE   WHO              PID      CMD              SINCE  TOKEN       CLIENT
holder  a-rathe…ng-name  4194303  /opt/co…mers.sh  3m20s  8589934607  zksh/0.1.0
        because the migration of the customers' table needs everybody else to
        keep out of it for a while
`);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("where the process is unknown the session is told; -v tells it and the znode always", () => {
    const holders = [nameless(queueMember(foreign))];
    expect(show([report({ holders })])).toContain("\n        session 0x100006285b70000\n");
    expect(show([report({ holders: [queueMember()] })])).not.toContain("session");
    expect(show([report({ holders: [queueMember()] })], { isVerbose: true })).toContain(
      "\n        session 0x100006285b70000; /deploy/_c_6b0e-lock-0000000003\n",
    );
    expect(show([report({ holders: [queueMember({ session: 0n })] })])).toContain(
      "not ephemeral: it stays until",
    );
  });

  test("a lock that is free, and one whose path does not exist", () => {
    expect(show([report(), report({ path: "/no", exists: false })])).toBe(
      "/deploy is free\n\n/no is free (there is no such znode)\n",
    );
  });

  test("control characters are not obeyed", () => {
    expect(show([report({ holders: [queueMember({ cmd: "\x1b[2J", why: "\x07" })] })])).toContain(
      "\\x1b[2J",
    );
  });

  test("which program made a ticket with Curator's name cannot be told", () => {
    const incompatibleTickets = ["Curator locks", "Curator read/write locks"];
    const { err } = textLocks(
      { kind: "locks", reports: [report({ incompatibleTickets })], deadlocks: [] },
      view(),
    );
    expect(err).toBe(
      "warning: locks and read/write locks are both used on /deploy: zksh respects both, Curator does not\n",
    );
  });

  test("a lock with incompatible tickets has a warning, and deadlocks are drawn below", () => {
    const [one, two] = [
      queueMember(),
      queueMember({ who: "bob@web1", pid: 881, cmd: "psql", session: 0x2n }),
    ];
    const held = report({ holders: [one], incompatibleTickets: ["Curator locks", "kazoo locks"] });
    const deadlock = [
      { waiter: one, path: "/b", blocker: two, isHolder: true },
      { waiter: two, path: "/a", blocker: one, isHolder: false },
    ];
    const { out, err } = textLocks(
      { kind: "locks", reports: [held], root: "/", deadlocks: [deadlock] },
      view(),
    );
    expect(String(out)).toMatch(
      /\n\nDEADLOCK\n {2}ann@web3 [^\n]*\n {2}bob@web1 [^\n]*\n {2}break it: revoke \/b\n$/,
    );
    expect(err).toBe(
      "warning: on /deploy there are Curator locks and kazoo locks, which do not see each other\n",
    );
  });
});

describe("a queue that is watched", () => {
  const watched = (changed: readonly LockReport[], more: Partial<View> = {}) =>
    textLocksWatched({ kind: "locks-watched", reports: changed, changed }, view(more));

  test("is a picture on a terminal, and lines in a pipe", () => {
    const held = report({
      holders: [queueMember()],
      waiters: [queueMember()],
      incompatibleTickets: ["a", "b"],
    });
    expect(watched([held])).toEqual({
      out: `${show([held])}warning: on /deploy there are a and b, which do not see each other\n`,
      isFrame: true,
    });
    const long = report({
      path: `/${"deep/".repeat(30)}lock`,
      holders: [queueMember()],
      incompatibleTickets: ["Curator locks", "kazoo locks"],
    });
    expect(
      String(watched([long]).out)
        .split("\n")
        .filter((line) => line.length > 80),
    ).toEqual([]);
    expect(watched([held, report({ path: "/free" })], { isTTY: false })).toEqual({
      out: "held /deploy by ann@web3 pid 4711 deploy.sh token 8589934607; 1 waits\nfree /free\n",
    });
  });
});

describe("a watched queue while no server answers", () => {
  const held = report({ holders: [queueMember()], waiters: [queueMember()] });
  const watched = (unansweredSince?: number) =>
    textLocksWatched(
      {
        kind: "locks-watched",
        reports: [held],
        changed: [],
        ...(unansweredSince !== undefined && { unansweredSince }),
      },
      view(),
    ).out;

  test("says so above what was seen before", () => {
    const warning = "no server has answered for 6s; what is below may be out of date\n";
    expect(watched(NOW - 6_000)).toBe(`${warning}${watched()}`);
  });
});

test("the row of a holder is readable on white: only its state is green", async () => {
  const held = report({ holders: [queueMember()], waiters: [queueMember(), queueMember()] });
  const { out = "" } = textLocks(
    { kind: "locks", reports: [held], deadlocks: [] },
    view({ theme: await createTheme(1) }),
  );
  const [, , holder, next, other] = String(out).replaceAll("\x1b", "␛").split("\n");
  expect(holder).toMatch(/^␛\[32mholder␛\[39m {4}ann@web3 /);
  expect(next).toMatch(/^␛\[1mwaiter 1 .*␛\[22m$/);
  expect(other).toMatch(/^waiter 2 /);
});

describe("a queue whose hand-over was seen", () => {
  test("says since when a holder has held that does not say so itself", () => {
    const holder = queueMember({ ...foreign, queuedAt: NOW - 90_000 });
    const stays = [{ contender: holder, order: 1n, queuedAt: NOW - 90_000, heldAt: NOW - 5_000 }];
    const result = {
      kind: "locks-watched",
      reports: [report({ holders: [holder] })],
      changed: [],
      timeline: { since: NOW - 60_000, stays: new Map([["/deploy", stays]]) },
    } as const;
    expect(String(textLocksWatched(result, view()).out)).toMatch(/\nholder .* deploy\.sh +5s +\d/);
  });
});

describe("a request to give way", () => {
  test.each([
    { event: "asked", out: "Asked ann@web3 pid 4711 deploy.sh to release /deploy\n" },
    { event: "released", out: "ann@web3 pid 4711 deploy.sh released /deploy\n" },
  ] as const)("$event", ({ event, out }) => {
    const result = { kind: "revocation", path: "/deploy", holder: queueMember(), event } as const;
    expect(textRevocation(result, view())).toEqual({ out });
    expect(textRevocation(result, view({ isTTY: false }))).toEqual({});
  });

  test("by force: the command of the old holder may run for a moment beside the next one's", () => {
    const result = {
      kind: "revocation",
      path: "/deploy",
      holder: queueMember(),
      event: "deleted",
    } as const;
    const err = expect.stringMatching(
      /^warning: a command of ann@web3 .* under \/deploy may run for a moment/,
    );
    expect(textRevocation(result, view())).toEqual({
      out: "Deleted /deploy/_c_6b0e-lock-0000000003\n",
      err,
    });
    expect(textRevocation(result, view({ isTTY: false }))).toEqual({ err });
  });
});
