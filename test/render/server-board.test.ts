import { describe, expect, test } from "vitest";
import type { ServerReading } from "../../src/recipes/servers/follow-servers.ts";
import { displayWidth } from "../../src/render/display-width.ts";
import type { View } from "../../src/render/renderer.ts";
import { textServersTick } from "../../src/render/server-board.ts";
import { jsonServersTick } from "../../src/render/server-lines.ts";
import { sparkline } from "../../src/render/sparkline.ts";
import { plainTheme } from "../../src/render/theme.ts";

const NOW = Date.parse("2026-11-19T06:00:10Z");
const HISTORY = [undefined, 0, 1, 500, 1_000];

const leader: ServerReading = {
  server: "zk1.example:2181",
  state: "serving",
  sample: {
    at: 1,
    mode: "leader",
    zxid: 0x100000004n,
    outstanding: 3,
    connections: 12,
    znodes: 1_234_567,
    watches: 12_345,
    averageLatencyMs: 0.5,
  },
  rates: { received: 1_000, sent: 12_345.6, zxids: 40, latencyMs: 2.25, isReset: false },
  history: HISTORY,
};
const down: ServerReading = {
  server: "zk2.example:2181",
  state: "down",
  says: "connection refused",
  since: NOW - 12_000,
  history: [undefined, undefined],
};

function board(readings: readonly ServerReading[], more: Partial<View> = {}): string[] {
  const view: View = {
    isTTY: true,
    columns: 80,
    theme: plainTheme,
    isQuiet: false,
    now: () => NOW,
    ...more,
  };
  const tick = { kind: "servers-tick", tick: 4, at: NOW, everyMs: 2_000, readings } as const;
  return String(textServersTick(tick, view).out).split("\n").slice(0, -1);
}

describe("the board of servers", () => {
  test("has a plot at 80 columns, and names the server that is down", () => {
    expect(board([leader, down])).toEqual([
      "2 servers, 1 not serving, 1000 requests/s, zxid 0x100000004, every 2s",
      "SERVER            ROLE    REQ/S  ANS/S  QUEUED  MS   CONNS  ZXID/S  REQUESTS",
      expect.stringMatching(
        /^zk1\.example:2181 {2}leader {2}1000 {3}12k {4}3 {7}2\.3 {2}12 {5}40 +▁▂▅█$/,
      ),
      "zk2.example:2181  down    -      -      -       -    -      -",
      "zk2.example:2181: connection refused, for 12s",
    ]);
  });

  test("has all figures where there is room", () => {
    const [, head = "", row = ""] = board([leader], { columns: 140 });
    expect(head.split(/ +/)).toEqual(
      "SERVER ROLE REQ/S ANS/S QUEUED MS CONNS ZNODES WATCHES ZXID/S REQUESTS".split(" "),
    );
    expect(row).toContain("1.2M");
  });

  test.each([200, 80, 60, 40, 30, 20, 12])("fits %i columns, also with long names", (columns) => {
    const long = { ...leader, server: `${"very-".repeat(30)}long.example:2181` };
    const wide = { ...down, server: "漢字".repeat(20), says: "因".repeat(60) };
    for (const line of board([long, wide, leader], { columns }))
      expect(displayWidth(line), line).toBeLessThanOrEqual(columns);
  });

  test.each([4, 6, 10])("is never higher than a terminal of %i rows", (rows) => {
    const many = Array.from({ length: 30 }, (_, index) => ({ ...down, server: `zk${index}:2181` }));
    expect(board(many, { rows }).length).toBeLessThan(rows);
  });

  test("is plain ASCII where the terminal shows no more", () => {
    const long = { ...leader, server: `${"very-".repeat(30)}long.example:2181` };
    const text = board([long, leader], { columns: 100, isAscii: true }).join("\n");
    expect(text).toMatch(/^[ -~\n]*$/);
    expect(text).toContain("_.=#");
  });

  test("escapes names and reasons", () => {
    const evil = { ...down, server: "a\u001b[2J:1", says: "x\u001b]0;y\u0007" };
    const text = board([evil]).join("\n");
    expect([..."\u001b\u0007"].filter((control) => text.includes(control))).toEqual([]);
  });

  test("says why figures are missing", () => {
    const reset = { ...leader, rates: { isReset: true }, lacksMntr: true };
    const alone = { ...down, state: "not-serving" as const };
    const strict = { ...down, server: "zk3:2181", state: "not-allowed" as const };
    expect(board([reset, alone, strict], { columns: 120 }).slice(-4)).toEqual([
      "zk1.example:2181: its counters were reset, or it was restarted",
      "zk2.example:2181 runs, but has no quorum, for 12s",
      "zk3:2181 allows neither srvr nor mntr (4lw.commands.whitelist)",
      "watches and latencies need mntr, which zk1.example:2181 does not allow (4lw.commands.whitelist)",
    ]);
  });

  test("in a pipe is a line for each server, with tabs", () => {
    expect(board([leader, down], { isTTY: false })).toEqual([
      "2026-11-19T06:00:10.000Z\tzk1.example:2181\tleader\t1000\t12345.6\t3\t2.3\t12\t1234567\t12345\t40",
      `2026-11-19T06:00:10.000Z\tzk2.example:2181\tdown${"\t-".repeat(8)}\tconnection refused`,
    ]);
  });

  test("in JSON is an object for each server", () => {
    const tick = { kind: "servers-tick", tick: 4, at: NOW, everyMs: 2_000 } as const;
    expect(
      JSON.parse(JSON.stringify(jsonServersTick({ ...tick, readings: [leader, down] }))),
    ).toEqual([
      {
        at: "2026-11-19T06:00:10.000Z",
        tick: 4,
        server: "zk1.example:2181",
        state: "serving",
        role: "leader",
        perSecond: { received: 1_000, sent: 12_345.6, zxids: 40 },
        outstanding: 3,
        latencyMs: 2.3,
        averageLatencyMs: 0.5,
        connections: 12,
        znodes: 1_234_567,
        watches: 12_345,
        zxid: "0x100000004",
      },
      {
        at: "2026-11-19T06:00:10.000Z",
        tick: 4,
        server: "zk2.example:2181",
        state: "down",
        reason: "connection refused",
        since: "2026-11-19T05:59:58.000Z",
      },
    ]);
  });
});

describe("a plot", () => {
  test("has one character for each value, the latest at the right", () => {
    expect(sparkline([0, 1, 4, 8], { most: 8, width: 6 })).toBe("  ▁▂▅█");
    expect(sparkline([9, 9, undefined, 0], { most: 8, width: 2 })).toBe(" ▁");
    expect(sparkline([0, 1, 4, 8], { most: 8, width: 4, isAscii: true })).toBe("_.=#");
  });

  test("of nothing at all is at the lowest level", () => {
    expect(sparkline([0, 0], { most: 0, width: 2 })).toBe("▁▁");
  });

  test("tells one request from none", () => {
    expect(sparkline([0, 1], { most: 1e9, width: 2 })).toBe("▁▂");
  });
});
