import { describe, expect, test } from "vitest";
import type { LockReport, QueueMember } from "../../src/recipes/locks/inspect/inspect-lock.ts";
import {
  contenderStep,
  explainLines,
  lookingSteps,
  sentenceOf,
  ticketName,
} from "../../src/render/whoholds-explain.ts";
import { foreign, queueMember, report, view } from "../support/lock-reports.ts";
import { uuid } from "../support/tickets.ts";

const CURATOR = `_c_${uuid("a")}`;
const KAZOO = "0123456789abcdef0123456789abcdef";

function says(
  node: string,
  isHolder: boolean,
  more: Partial<QueueMember> = {},
  of: Partial<LockReport> = {},
): string {
  const one = queueMember({ node, ...more });
  return sentenceOf(contenderStep(one, isHolder, report(of))).replace(
    "ann@web3 pid 4711 deploy.sh ",
    "",
  );
}

describe("an explanation", () => {
  test("of a lock numbers what to type, what it shows and why", () => {
    const [first, second] = ["3", "4"].map(
      (digit) => `/deploy/_c_${uuid(digit)}-lock-000000000${digit}`,
    );
    const holders = [queueMember({ node: first ?? "" })];
    const waiters = [
      queueMember({
        node: second ?? "",
        behind: first ?? "",
        who: "bob@web1",
        pid: 881,
        cmd: "psql",
      }),
    ];
    const text = explainLines(report({ layouts: ["curator-lock"], holders, waiters }), view()).join(
      "\n",
    );
    expect(text).toBe(`\
1. ls /deploy
   the tickets: each contender creates one, ephemeral (it goes with its session)
   and sequential: the server numbers them in the order in which they came.
2. get -s /deploy/_c_33333333-3333-4333-8333-333333333333-lock-0000000003
   ann@web3 pid 4711 deploy.sh holds it: no ticket before …-lock-0000000003 is
   in its way; a zksh lock waits for every earlier ticket of a lock, a reader or
   a writer, of any library.
3. get -s /deploy/_c_44444444-4444-4444-8444-444444444444-lock-0000000004
   bob@web1 pid 881 psql waits with …-lock-0000000004 for …-lock-0000000003, the
   nearest before it, and watches only that one.`);
  });

  test.each([
    {
      library: "Curator",
      node: `${CURATOR}-lock-0000000001`,
      rule: /a Curator lock waits for earlier tickets whose/,
    },
    {
      library: "Curator",
      node: `${CURATOR}-__READ__0000000001`,
      rule: /a Curator reader waits for earlier __WRIT__/,
    },
    {
      library: "Curator",
      node: `${CURATOR}-__WRIT__0000000001`,
      rule: /a Curator writer waits for earlier __READ__ and/,
    },
    {
      library: "Curator",
      node: `${CURATOR}-latch-0000000001`,
      rule: /a LeaderLatch .* the lowest number leads/,
    },
    {
      library: "go-zookeeper",
      node: `_c_${KAZOO}-lock-0000000001`,
      rule: /a go-zookeeper lock waits for every/,
    },
    {
      library: "kazoo",
      node: `${KAZOO}__lock__0000000001`,
      rule: /a kazoo lock waits for earlier __lock__ tickets/,
    },
    {
      library: "kazoo",
      node: `${KAZOO}__rlock__0000000001`,
      rule: /a kazoo reader waits for earlier __lock__/,
    },
    {
      library: "WriteLock",
      node: "x-72057594037927936-0000000001",
      rule: /ZooKeeper's WriteLock waits for every/,
    },
    { library: "unknown", node: "lock-0000000001", rule: /by ZooKeeper's recipe a lock waits/ },
    { library: "unknown", node: "read-0000000001", rule: /by ZooKeeper's recipe a reader waits/ },
  ])("$library: $node", ({ library, node, rule }) => {
    const mode = node.includes("latch") ? "leader" : "exclusive";
    const more: Partial<QueueMember> = { ...foreign, client: library, mode };
    expect(says(`/deploy/${node}`, true, more)).toMatch(rule);
    expect(says(`/deploy/${node}`, false, { ...more, behind: "/deploy/lock-0000000000" })).toMatch(
      /^waits with .* for lock-0000000000, the nearest before it; /,
    );
  });

  test("of read/write locks says what a reader and a writer of zksh wait for", () => {
    expect(says("/deploy/_c_a-__READ__0000000002", true, { mode: "read" })).toMatch(
      /a zksh reader .* not for other/,
    );
    expect(says("/deploy/_c_a-__WRIT__0000000002", false, { mode: "write" })).toMatch(
      /a zksh writer waits for every/,
    );
    expect(says("/deploy/_c_a-latch-0000000002", true, { mode: "leader" })).toMatch(
      /^leads: .* a zksh candidate/,
    );
    expect(
      says(`/deploy/${KAZOO}__lock__0000000002`, false, { ...foreign, mode: "write" }),
    ).toMatch(/a kazoo writer/);
  });

  test("of a semaphore names its limit, its leases and its queue", () => {
    const mode = "semaphore" as const;
    const of = {
      path: "/pool",
      limit: 2,
      layouts: ["curator-semaphore"] as const,
      holders: [queueMember()],
    };
    expect(lookingSteps(report(of)).map(({ operation }) => operation)).toEqual([
      "get /pool",
      "ls /pool/leases",
      "ls /pool/locks",
    ]);
    expect(says("/pool/leases/_c_a-lease-0000000001", true, { mode }, of)).toMatch(
      /^holds a permit: its lease is among the 2 that count/,
    );
    expect(says("/pool/leases/_c_a-lease-0000000001", false, { mode }, of)).toMatch(
      /not yet among the 2 that count/,
    );
    expect(says("/pool/locks/_c_a-lock-0000000001", false, { mode }, of)).toMatch(
      /only the first in locks may ask/,
    );
    const kazoo = { ...of, layouts: ["kazoo-semaphore"] as const };
    expect(lookingSteps(report(kazoo)).map(({ operation }) => operation)).toContain(
      "ls /pool-__lock__",
    );
    expect(says(`/pool/${KAZOO}`, true, { ...foreign, mode }, kazoo)).toMatch(
      /each permit is a child of the path/,
    );
    expect(
      says(`/pool-__lock__/${KAZOO}__lock__0000000001`, false, { ...foreign, mode }, kazoo),
    ).toMatch(/lock beside it/);
  });

  test("of a lock that is one znode", () => {
    expect(says("/deploy", true)).toMatch(
      /^holds it until .*; the path itself is the holder's ephemeral znode/,
    );
  });

  test("of a lock that is free", () => {
    expect(explainLines(report(), view())).toEqual([
      "1. ls /deploy",
      "   no tickets: the lock is free, and no contender waits.",
    ]);
    expect(explainLines(report({ exists: false }), view())[0]).toBe("1. stat /deploy");
  });

  test("of a long queue stops after five waiters on a terminal", () => {
    const waiters = Array.from({ length: 5_000 }, () =>
      queueMember({ behind: "/deploy/lock-0000000001" }),
    );
    const lines = explainLines(
      report({ holders: [queueMember()], waiters }),
      view({ columns: 40 }),
    );
    expect(lines.slice(-2).join(" ")).toBe("… and 4995 more waiters; --json explains each of them");
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
  });

  test("quotes a path that a shell would split, and cuts a ticket's uuid", () => {
    expect(lookingSteps(report({ path: "/my lock's" }))[0]?.operation).toBe("ls '/my lock'\\''s'");
    expect(ticketName(`/l/${CURATOR}-lock-0000000007`)).toBe("…-lock-0000000007");
    expect(ticketName(`/l/${KAZOO}__lock__0000000007`)).toBe("…__lock__0000000007");
  });
});
