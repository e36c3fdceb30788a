import { describe, expect, test } from "vitest";
import type { AskedServer, ServerAnswer } from "../../../src/recipes/doctor/ask-servers.ts";
import {
  judgeEnsemble,
  judgeServer,
  judgeSynced,
} from "../../../src/recipes/doctor/judge-servers.ts";
import type { ServerStatus } from "../../../src/recipes/servers/srvr.ts";
import type { Member } from "../../../src/session/ensemble-config.ts";

function server(name: string, answer: ServerAnswer): AskedServer {
  return { server: { host: name, port: 2181 }, name, isListed: true, answer };
}

function running(name: string, status: Partial<ServerStatus> = {}): AskedServer {
  const answer = { version: "3.8.0", release: "3.8.0", mode: "follower", ...status };
  return server(name, { kind: "status", status: answer, ms: 1 });
}

const silent = (name: string) => server(name, { kind: "not-serving" });
const judge = (...asked: AskedServer[]) => judgeEnsemble(asked).map(({ check }) => check);
const judgeOne = (one: AskedServer) => judgeServer(one, [one]);

describe("one server", () => {
  test("is well with few requests in its queue", () => {
    expect(judgeOne(running("a", { outstanding: 99 }))).toEqual([]);
  });

  test("has too many from 100 on", () => {
    expect(judgeOne(running("a", { outstanding: 100 }))).toMatchObject([
      { check: "outstanding", outstanding: 100 },
    ]);
  });

  test("is slow by the average of a thousand requests, not of a few", () => {
    const latency = { min: 0, avg: 100.5, max: 900 };
    expect(judgeOne(running("a", { latency, received: 999 }))).toEqual([]);
    expect(judgeOne(running("a", { latency, received: 1_000 }))).toMatchObject([
      { check: "slow", avgMs: 100.5, maxMs: 900, requests: 1_000 },
    ]);
    const fast = { ...latency, avg: 99.9 };
    expect(judgeOne(running("a", { latency: fast, received: 1_000 }))).toEqual([]);
  });

  test.each<[ServerAnswer, string]>([
    [{ kind: "not-serving" }, "not-serving"],
    [{ kind: "not-allowed" }, "word-not-allowed"],
    [{ kind: "unknown" }, "not-zookeeper"],
    [{ kind: "no-address", says: "no such host" }, "dns"],
    [{ kind: "failed", why: "refused", says: "connection refused" }, "unreachable"],
  ])("%j is a finding", (answer, check) => {
    expect(judgeOne(server("a", answer))).toMatchObject([{ check, server: "a" }]);
  });

  test("in read-only mode has lost its quorum", () => {
    expect(judgeOne(running("a", { mode: "read-only" }))).toMatchObject([{ check: "read-only" }]);
  });

  test("is one of several addresses of a name where another one answers", () => {
    const address = { host: "zk", port: 2181 };
    const answer: ServerAnswer = { kind: "failed", why: "refused", says: "connection refused" };
    const dead = { ...server("zk (10.0.0.2)", answer), server: address };
    const alive = { ...running("zk (10.0.0.1)"), server: address };
    expect(judgeServer(dead, [alive, dead])).toMatchObject([{ isOneAddress: true }]);
    expect(judgeServer(dead, [dead])).toMatchObject([{ isOneAddress: false }]);
  });
});

describe("an ensemble", () => {
  const leader = running("a", { mode: "leader" });

  test.each<[string, AskedServer[], string[]]>([
    ["with one leader is well", [leader, running("b")], []],
    ["of one server is well", [running("a", { mode: "standalone" })], []],
    ["seen from its followers only is well", [running("b"), running("c")], []],
    ["has one leader, never two", [leader, running("b", { mode: "leader" })], ["several-leaders"]],
    [
      "has no standalone server",
      [leader, running("b", { mode: "standalone" })],
      ["several-ensembles"],
    ],
    ["without a quorum has no leader", [silent("a"), silent("b")], ["no-leader"]],
    ["with a leader may have a server that starts", [leader, silent("b")], []],
    ["is of one release", [leader, running("b", { release: "3.8.1" })], ["version-skew"]],
    ["may have servers that hide their release", [leader, server("b", { kind: "unknown" })], []],
  ])("%s", (_, asked, checks) => {
    expect(judge(...asked)).toEqual(checks);
  });
});

describe("followers in sync", () => {
  const members = (voters: number, observers = 0): Member[] =>
    Array.from({ length: voters + observers }, (_, n) => ({
      key: `server.${n}`,
      host: `zk${n}`,
      port: 2181,
      isObserver: n >= voters,
    }));
  const severity = (voters: number, synced: number, observers = 0) =>
    judgeSynced("a", members(voters, observers), { synced })[0]?.severity;

  test("are all of the voters", () => {
    expect([severity(3, 2), severity(5, 4), severity(3, 2, 2)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("are too few when no further one may fail", () => {
    expect([severity(5, 3), severity(5, 2), severity(3, 1), severity(4, 2)]).toEqual([
      "warning",
      "error",
      "error",
      "error",
    ]);
  });

  test("are compared with the connected ones where the configuration is unknown", () => {
    expect(judgeSynced("a", [], { synced: 1, learners: 2 })).toMatchObject([{ followers: 2 }]);
    expect(judgeSynced("a", [], { synced: 2, learners: 2 })).toEqual([]);
    expect(judgeSynced("a", [], { synced: 2 })).toEqual([]);
    expect(judgeSynced("a", members(3), {})).toEqual([]);
  });
});
