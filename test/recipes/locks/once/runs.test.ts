import { describe, expect, test } from "vitest";
import { decodeRun } from "../../../../src/recipes/locks/once/runs.ts";

const TICKET = "_c_11111111-2222-3333-4444-555555555555-lock-0000000007";
const STAT = { ctime: 1_000, mtime: 4_000 };
const record = { v: 1, tool: "zksh", begin: 0, end: 60_000, token: "115", ticket: TICKET };

function decode(value: unknown, tickets: readonly string[] = []) {
  const data = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  return decodeRun("/k/runs/run-0000000000", data, STAT, new Set(tickets));
}

describe("a record", () => {
  test("with an exit code has ended, by the clock of ZooKeeper", () => {
    const run = decode({ ...record, exit: 3, who: "ann", host: "web1", pid: 42, cmd: "job" });
    expect(run).toEqual({
      node: "/k/runs/run-0000000000",
      period: { beginMs: 0, endMs: 60_000 },
      token: 115n,
      state: "ended",
      code: 3,
      begunAt: 1_000,
      endedAt: 4_000,
      who: "ann",
      host: "web1",
      pid: 42,
      cmd: "job",
    });
  });

  test("without one is running while its ticket exists, and crashed without it", () => {
    expect(decode(record, [TICKET])).toMatchObject({ state: "running" });
    expect(decode(record)).toMatchObject({ state: "crashed" });
  });

  test("that names another child than a ticket has crashed", () => {
    expect(decode({ ...record, ticket: "runs" }, ["runs"])).toMatchObject({ state: "crashed" });
  });

  test.each([
    "",
    "no JSON",
    "null",
    "[]",
    "{}",
    { ...record, begin: "0" },
    { ...record, end: 1.5 },
    { ...record, token: 115 },
    { ...record, token: "-1" },
    { ...record, ticket: undefined },
    { ...record, who: "x".repeat(5_000) },
  ])("that is none of ours counts as no run: %j", (value) => {
    expect(decode(value)).toBeUndefined();
  });

  test.each([-1, 256, 1.5, "0", null])("has not ended with an exit code of %j", (exit) => {
    expect(decode({ ...record, exit })).toMatchObject({ state: "crashed" });
  });

  test("has its texts cut, and without those of another type", () => {
    const run = decode({ ...record, who: "w".repeat(300), host: 7, pid: "1" });
    expect(run?.who?.length).toBeLessThanOrEqual(100);
    expect(run).not.toHaveProperty("host");
    expect(run).not.toHaveProperty("pid");
  });
});
