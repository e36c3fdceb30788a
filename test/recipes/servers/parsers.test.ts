import { describe, expect, test } from "vitest";
import { parseCons } from "../../../src/recipes/servers/cons.ts";
import { parseDump } from "../../../src/recipes/servers/dump.ts";
import { metric, parseMntr } from "../../../src/recipes/servers/mntr.ts";
import { isNotServing, parseSrvr } from "../../../src/recipes/servers/srvr.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import * as answers from "./answers.ts";

describe("srvr", () => {
  test("is parsed as 3.4 writes it", () => {
    expect(parseSrvr(answers.SRVR_3_4)).toEqual({
      version: "3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019 16:18 GMT",
      release: "3.4.14",
      mode: "standalone",
      zxid: 0x600000012n,
      latency: { min: 0, avg: 1, max: 45 },
      received: 1902,
      sent: 1901,
      connections: 3,
      outstanding: 0,
      znodes: 140,
    });
  });

  test("is parsed as a leader of 3.5 writes it, with the sizes of proposals", () => {
    expect(parseSrvr(answers.SRVR_3_5_LEADER)).toMatchObject({
      release: "3.5.9",
      mode: "leader",
      outstanding: 4,
    });
  });

  test("is parsed as 3.8 writes it, with fractions of milliseconds", () => {
    expect(parseSrvr(answers.SRVR_3_8)).toMatchObject({
      release: "3.8.0",
      mode: "follower",
      latency: { min: 3, avg: 22.3333, max: 41 },
    });
  });

  test("is parsed as ClickHouse Keeper writes it, with a zxid in decimal", () => {
    expect(parseSrvr(answers.SRVR_CLICKHOUSE)).toMatchObject({
      release: "Keeper 23.3.1.2823",
      zxid: 36n,
      mode: "leader",
      received: 12,
    });
  });

  test("the lines of stat are read too", () => {
    const stat = answers.SRVR_3_8.replace("\n", `\nClients:\n${answers.CONS_3_8}`);
    expect(parseSrvr(stat)).toEqual(parseSrvr(answers.SRVR_3_8));
  });

  test("line ends with carriage returns are read", () => {
    expect(parseSrvr(answers.SRVR_3_8.replaceAll("\n", "\r\n"))).toMatchObject({ sent: 6 });
  });

  test("figures that are no numbers are left out", () => {
    const broken =
      "Zookeeper version: x\nReceived: -1\nSent: 1e9\nZxid: 0xfffffffffffffffff\nMode: \u001b[2J\n" +
      "Latency min/avg/max: 1/2\nConnections: 99999999999999999999999\n";
    expect(parseSrvr(broken)).toEqual({ version: "x" });
  });

  test("a server without a quorum is told from garbage", () => {
    expect(isNotServing(answers.NOT_SERVING)).toBe(true);
    expect(isNotServing(answers.SRVR_3_8)).toBe(false);
  });
});

describe("mntr", () => {
  test("is parsed as 3.4 and 3.8 write it", () => {
    const old = parseMntr(answers.MNTR_3_4);
    const newer = parseMntr(answers.MNTR_3_8);
    expect(old?.get("zk_server_state")).toBe("leader");
    expect(metric(old, "zk_followers")).toBe(2);
    expect(metric(newer, "zk_avg_latency")).toBe(16.5);
    expect(metric(newer, "zk_last_proposal_size")).toBe(-1);
    expect(metric(newer, "zk_peer_state")).toBeUndefined();
    expect(metric(old, "zk_sum_readlatency")).toBeUndefined();
    expect(metric(undefined, "zk_followers")).toBeUndefined();
  });

  test("values that are no numbers are none", () => {
    const metrics = parseMntr("zk_a\tNaN\nzk_b\t1e3\nzk_c\t\nzk_d\t--1\nno_zk\t1\n");
    expect([..."abcd"].map((name) => metric(metrics, `zk_${name}`))).toEqual(
      Array(4).fill(undefined),
    );
    expect(metrics?.size).toBe(4);
  });
});

describe("cons", () => {
  test("of 3.4, where IPv6 has no brackets", () => {
    expect(parseCons(answers.CONS_3_4)).toEqual([
      {
        address: "127.0.0.1:45678",
        session: 0x169a8a7b0d50000n,
        timeoutMs: 30_000,
        queued: 0,
        received: 3,
        sent: 3,
        lastOperation: "GETC",
        establishedAt: 1553099123456,
      },
      { address: "0:0:0:0:0:0:0:1:45679", queued: 0, received: 1, sent: 0 },
    ]);
  });

  test("of 3.8: session ids are signed, and a name before an address is taken off", () => {
    expect(parseCons(answers.CONS_3_8)).toMatchObject([
      { address: "[2001:db8:0:0:0:0:0:7]:36380", session: BigInt.asIntN(64, 0xff00000634fd0000n) },
      { address: "10.0.0.7:36398", queued: 2 },
    ]);
  });

  test("of ClickHouse Keeper, where a connection without a session has the id -1", () => {
    const [none, one] = parseCons(answers.CONS_CLICKHOUSE);
    expect(none).not.toHaveProperty("session");
    expect(one).toMatchObject({ address: "192.168.1.1:52042", session: 1n, received: 9 });
  });
});

describe("dump", () => {
  test("of 3.4, without connections", () => {
    expect(parseDump(answers.DUMP_3_4)).toEqual({
      sessions: [{ session: 0x169a8a7b0d50000n }],
      ephemerals: new Map([[0x169a8a7b0d50000n, ["/locks/lock-0000000001"]]]),
      connections: [],
    });
  });

  test("of a leader of 3.8: a path that reads like a title is a path", () => {
    const big = BigInt.asIntN(64, 0xff00000634fd0000n);
    expect(parseDump(answers.DUMP_3_8_LEADER)).toEqual({
      sessions: [{ session: 0x100000634cc0000n }, { session: big }],
      ephemerals: new Map([
        [0x100000634cc0000n, ["/e2 with space", "/Connections dump:"]],
        [big, ["/e1"]],
      ]),
      connections: [{ address: "127.0.0.1:36380", session: big }],
    });
  });

  test("of a follower of 3.8, with session timeouts", () => {
    expect(parseDump(answers.DUMP_3_8_FOLLOWER)?.sessions).toEqual([
      { session: 0x100000634cc0000n, timeoutMs: 30_000 },
      { session: BigInt.asIntN(64, 0xff00000634fd0000n), timeoutMs: 4_000 },
    ]);
  });
});

test("garbage is no answer, and is read in linear time", () => {
  const start = cpuMs();
  for (const text of answers.GARBAGE) {
    expect(parseSrvr(text)).toBeUndefined();
    expect(parseMntr(text)).toBeUndefined();
    expect(parseCons(text)).toEqual([]);
    expect(parseDump(text)).toBeUndefined();
  }
  // Quadratic time would be minutes for these lengths.
  expect(cpuMs() - start).toBeLessThan(5_000);
});
