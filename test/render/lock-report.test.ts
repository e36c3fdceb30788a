import { describe, expect, test } from "vitest";
import type { Deadlock } from "../../src/recipes/locks/deadlocks.ts";
import type { LockReport, Standing } from "../../src/recipes/locks/inspect.ts";
import { noColors } from "../../src/render/colors.ts";
import { textLocks, textLocksWatched, textRevocation } from "../../src/render/lock-report.ts";
import type { View } from "../../src/render/renderer.ts";
import { nameHolder } from "../../src/results/lock-reports.ts";

const NOW = Date.UTC(2026, 10, 16, 4, 42, 11);

function view(more: Partial<View> = {}): View {
  return { isTTY: true, columns: 80, rows: 24, colors: noColors, isQuiet: false, now: () => NOW, ...more };
}

function standing(more: Partial<Standing> = {}): Standing {
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

const foreign: Partial<Standing> = { client: "Curator", isOurs: false };

/** A ticket that says nothing of its maker. */
function nameless({ who: _, host: __, pid: ___, cmd: ____, ...rest }: Standing): Standing {
  return rest;
}

function report(more: Partial<LockReport> = {}): LockReport {
  return { path: "/deploy", exists: true, layouts: [], holders: [], waiters: [], strangers: [], ...more };
}

function show(reports: readonly LockReport[], more: Partial<View> = {}): string {
  return String(textLocks({ kind: "locks", reports, deadlocks: [] }, view(more)).out);
}

describe("a queue on a terminal", () => {
  test("with all there is to say", () => {
    const revoke = { by: "eve@ops", at: new Date(NOW - 12_000).toISOString(), reason: "hotfix" };
    const holders = [standing({ why: "release 42", acquiredAt: NOW - 192_000, revoke })];
    const waiters = [
      nameless(standing({ ...foreign, token: 8589934610n, queuedAt: NOW - 12_000 })),
      standing({ who: "bob@web1", pid: 881, cmd: "psql", token: 8589934623n, queuedAt: NOW - 3_000 }),
    ];
    expect(show([report({ holders, waiters })])).toBe(`\
/deploy: held, 2 wait
STATE     WHO       PID   CMD        SINCE  TOKEN       CLIENT
holder    ann@web3  4711  deploy.sh  3m12s  8589934607  zksh/0.1.0
          release 42; asked to give way by eve@ops 12s ago: hotfix
waiter 1  -         -     -          12s    8589934610  Curator
waiter 2  bob@web1  881   psql       3s     8589934623  zksh/0.1.0
`);
  });

  test("readers and a writer have a mode", () => {
    const holders = [standing({ mode: "read" }), standing({ mode: "read" })];
    expect(show([report({ holders, waiters: [standing({ mode: "write" })] })])).toBe(`\
/deploy: 2 hold it, 1 waits
STATE     MODE   WHO       PID   CMD        SINCE  TOKEN       CLIENT
holder    read   ann@web3  4711  deploy.sh  3m20s  8589934607  zksh/0.1.0
holder    read   ann@web3  4711  deploy.sh  3m20s  8589934607  zksh/0.1.0
waiter 1  write  ann@web3  4711  deploy.sh  3m20s  8589934607  zksh/0.1.0
`);
  });

  test("a semaphore has permits, a latch a leader", () => {
    const semaphore = report({ path: "/pool", limit: 3, holders: [standing({ mode: "semaphore" })] });
    expect(show([semaphore])).toMatch(/^\/pool: 1 of 3 permits held, nobody waits\n/);
    expect(show([{ ...semaphore, limit: 1 }])).toMatch(/^\/pool: 1 of 1 permit held, nobody waits\n/);
    const several = report({ path: "/pool", limit: 3, holders: [standing({ mode: "semaphore", permits: 2 })] });
    expect(show([several])).toMatch(/^\/pool: 2 of 3 permits held, nobody waits\n.*\nholder .*\n +2 permits\n$/);
    expect(show([report({ holders: [standing({ mode: "leader" })] })])).toMatch(/\nleader {2}ann/);
  });

  test("long names are cut to the width, words about them wrapped", () => {
    const who = "a-rather-long-user-name@a-host-with-a-long-name";
    const why = "because the migration of the customers' table needs everybody else to keep out of it for a while";
    const holders = [standing({ who, why, cmd: "/opt/company/bin/nightly-migration-of-customers.sh", pid: 4194303 })];
    const text = show([report({ holders })]);
    expect(text).toBe(`\
/deploy: held, nobody waits
STATE   WHO              PID      CMD              SINCE  TOKEN       CLIENT
holder  a-rather-long-…  4194303  /opt/company/b…  3m20s  8589934607  zksh/0.1.0
        because the migration of the customers' table needs everybody else to
        keep out of it for a while
`);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("where the process is unknown the session is told; -v tells it and the znode always", () => {
    const holders = [nameless(standing(foreign))];
    expect(show([report({ holders })])).toContain("\n        session 0x100006285b70000\n");
    expect(show([report({ holders: [standing()] })])).not.toContain("session");
    expect(show([report({ holders: [standing()] })], { isVerbose: true })).toContain(
      "\n        session 0x100006285b70000; /deploy/_c_6b0e-lock-0000000003\n",
    );
    expect(show([report({ holders: [standing({ session: 0n })] })])).toContain("not ephemeral: it stays until");
  });

  test("nobody", () => {
    expect(show([report(), report({ path: "/no", exists: false })])).toBe(
      "free: /deploy\n\nfree: /no (there is no such znode)\n",
    );
  });

  test("control characters are not obeyed", () => {
    expect(show([report({ holders: [standing({ cmd: "\x1b[2J", why: "\x07" })] })])).toContain("\\x1b[2J");
  });

  test("which program made a ticket with Curator's name cannot be told", () => {
    const strangers = ["Curator locks", "Curator read/write locks"];
    const { err } = textLocks({ kind: "locks", reports: [report({ strangers })], deadlocks: [] }, view());
    expect(err).toBe(
      "warning: locks and read/write locks are both used on /deploy: zksh respects both, Curator does not\n",
    );
  });

  test("strangers are warned of, deadlocks named", () => {
    const [one, two] = [standing(), standing({ who: "bob@web1", pid: 881, cmd: "psql", session: 0x2n })];
    const held = report({ holders: [one], strangers: ["Curator locks", "kazoo locks"] });
    const deadlock = [
      { waiter: one, path: "/b", blocker: two, isHolder: true },
      { waiter: two, path: "/a", blocker: one, isHolder: false },
    ];
    const { out, err } = textLocks({ kind: "locks", reports: [held], root: "/", deadlocks: [deadlock] }, view());
    expect(String(out)).toContain(`
deadlock: 0x100006285b70000 (ann@web3 pid 4711 deploy.sh) waits for /b
          held by 0x2 (bob@web1 pid 881 psql), which waits for /a behind
          0x100006285b70000
`);
    expect(err).toBe("warning: on /deploy there are Curator locks and kazoo locks, which overlook each other\n");
  });
});

describe("a deadlock", () => {
  const bob = { who: "bob@web1" };
  const text = (...deadlock: Deadlock) =>
    String(textLocks({ kind: "locks", reports: [], deadlocks: [deadlock] }, view({ isTTY: false })).out);

  test("of locks inside each other names everybody by their own session", () => {
    const outerA = standing({ session: 0x7n, token: 70n, pid: 47, cmd: "sh" });
    const outerB = standing({ ...bob, session: 0x6n, token: 60n, pid: 81, cmd: "sh" });
    const innerA = standing({ session: 0x9n, pid: 48, cmd: "true", within: ["70"] });
    const innerB = standing({ ...bob, session: 0x8n, pid: 82, cmd: "true", within: ["60"] });
    expect(
      text(
        { waiter: innerB, path: "/d1", blocker: outerA, isHolder: true },
        { waiter: innerA, path: "/d2", blocker: outerB, isHolder: true },
      ),
    ).toBe(
      "deadlock: 0x8 (bob@web1 pid 82 true) waits for /d1 held by 0x7 (ann@web3 pid 47 sh), " +
        "inside which 0x9 (ann@web3 pid 48 true) waits for /d2 held by 0x6 (bob@web1 pid 81 sh), inside which 0x8 waits\n",
    );
  });

  test("of programs that only share what is around them", () => {
    const [one, two] = [standing({ session: 0x1n }), standing({ session: 0x2n, pid: 48 })];
    const other = standing({ ...bob, session: 0x3n });
    expect(
      text(
        { waiter: other, path: "/a", blocker: one, isHolder: true },
        { waiter: two, path: "/b", blocker: other, isHolder: true },
      ),
    ).toContain("held by 0x1 (ann@web3 pid 4711 deploy.sh), together with which 0x2 (ann@web3 pid 48 deploy.sh) waits");
  });
});

describe("a queue that is watched", () => {
  const watched = (changed: readonly LockReport[], more: Partial<View> = {}) =>
    textLocksWatched({ kind: "locks-watched", reports: changed, changed }, view(more));

  test("is a picture on a terminal, and lines in a pipe", () => {
    const held = report({ holders: [standing()], waiters: [standing()], strangers: ["a", "b"] });
    expect(watched([held])).toEqual({
      out: `${show([held])}warning: on /deploy there are a and b, which overlook each other\n`,
      isFrame: true,
    });
    const long = report({
      path: `/${"deep/".repeat(30)}lock`,
      holders: [standing()],
      strangers: ["Curator locks", "kazoo locks"],
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

describe("a request to give way", () => {
  test.each([
    { event: "asked", out: "Asked ann@web3 pid 4711 deploy.sh to give up /deploy\n" },
    { event: "released", out: "Given up by ann@web3 pid 4711 deploy.sh: /deploy\n" },
    { event: "deleted", out: "Deleted /deploy/_c_6b0e-lock-0000000003\n" },
  ] as const)("$event", ({ event, out }) => {
    const result = { kind: "revocation", path: "/deploy", holder: standing(), event } as const;
    expect(textRevocation(result, view())).toEqual({ out });
    expect(textRevocation(result, view({ isTTY: false }))).toEqual({});
  });
});

describe("names of holders", () => {
  test.each([
    { given: {}, name: "ann@web3 pid 4711 deploy.sh" },
    { given: { who: "ann" }, name: "ann@web3.example pid 4711 deploy.sh" },
  ])("$name", ({ given, name }) => {
    expect(nameHolder(standing(given))).toBe(name);
  });

  test("of other libraries", () => {
    expect(nameHolder(nameless(standing({ ...foreign, note: "10.0.0.7" })))).toBe("10.0.0.7 (Curator)");
    expect(nameHolder(nameless(standing(foreign)))).toBe("a Curator client in session 0x100006285b70000");
    expect(nameHolder(nameless(standing({ client: "unknown" })))).toBe("somebody in session 0x100006285b70000");
  });
});
