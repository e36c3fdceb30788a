import { describe, expect, test } from "vitest";
import type { Deadlock } from "../../src/recipes/locks/inspect/deadlocks.ts";
import type { QueueMember } from "../../src/recipes/locks/inspect/inspect-lock.ts";
import { breakers, deadlockLines, deadlockText } from "../../src/render/deadlock.ts";
import { queueMember, view } from "../support/lock-reports.ts";

const ann = queueMember({ session: 0x1n, pid: 5022, cmd: "sh" });
const bob = queueMember({ session: 0x2n, who: "bob@web1", pid: 81, cmd: "psql" });

/** Each holds what the other waits for. */
function crossed(annHolds: Partial<QueueMember> = {}): Deadlock {
  return [
    { waiter: bob, path: "/d1", blocker: { ...ann, ...annHolds }, isHolder: true },
    { waiter: ann, path: "/d2", blocker: bob, isHolder: true },
  ];
}

describe("a deadlock", () => {
  test("is drawn with each wait in a line, and the commands that end it", () => {
    expect(deadlockLines(crossed(), view()).join("\n")).toBe(`\
DEADLOCK
  bob@web1 pid 81 psql  waits for /d1, held by ann@web3 pid 5022 sh
  ann@web3 pid 5022 sh  waits for /d2, held by bob@web1 pid 81 psql
  break it: revoke /d1   or   revoke /d2`);
  });

  test("is wrapped where the terminal is narrow", () => {
    const lines = deadlockLines(crossed(), view({ columns: 40 }));
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines.slice(0, 3)).toEqual([
      "DEADLOCK",
      "  bob@web1 pid 81 psql waits for /d1,",
      "    held by ann@web3 pid 5022 sh",
    ]);
  });

  test("is one line in a pipe", () => {
    expect(deadlockText(crossed())).toBe(
      "bob@web1 pid 81 psql waits for /d1, held by ann@web3 pid 5022 sh; " +
        "ann@web3 pid 5022 sh waits for /d2, held by bob@web1 pid 81 psql; break it: revoke /d1 or revoke /d2",
    );
  });

  test("a program that waits inside the lock of another is said to", () => {
    const outer = queueMember({ session: 0x7n, token: 70n, pid: 47, cmd: "sh" });
    const inner = queueMember({ session: 0x9n, pid: 48, cmd: "true", within: ["70"] });
    const sibling = queueMember({ session: 0xan, pid: 49, cmd: "true", within: ["8"] });
    const circle = (waiter: QueueMember): Deadlock => [
      { waiter: bob, path: "/d1", blocker: outer, isHolder: true },
      { waiter, path: "/d2", blocker: bob, isHolder: true },
    ];
    expect(deadlockText(circle(inner))).toContain(
      "; ann@web3 pid 48 true runs inside the lock of ann@web3 pid 47 sh; break it",
    );
    expect(deadlockText(circle(sibling))).toContain(
      "; ann@web3 pid 49 true runs under the same lock as ann@web3 pid 47 sh; break it",
    );
  });

  test("a path that looks like more commands is one word of the command that ends it", () => {
    const [one, other] = crossed();
    const path = "/d1 x; deleteall --yes /app";
    expect(breakers([{ ...one, path } as Deadlock[0], other as Deadlock[0]])).toContain(
      "revoke '/d1 x; deleteall --yes /app'",
    );
  });

  test("is ended by force where the holder does not listen, and never by revoking a waiter", () => {
    const kazoo = {
      isOurs: false,
      client: "kazoo",
      node: `/d1/${"0a".repeat(16)}__lock__0000000001`,
    };
    expect(breakers(crossed(kazoo))).toEqual(["revoke --force /d1", "revoke /d2"]);
    expect(breakers(crossed({ isOurs: false, node: "/d1/lock-0000000001" }))).toEqual([
      "revoke /d1",
      "revoke /d2",
    ]);
    expect(breakers(crossed().map((step) => ({ ...step, isHolder: false })))).toEqual([
      "stop one of these programs",
    ]);
  });
});
