import { describe, expect, test } from "vitest";
import { askServers, findLags } from "../../../src/recipes/doctor/ask-servers.ts";
import type { HostAddresses, Servers } from "../../../src/session/four-letter-word.ts";
import type { ServerAddress } from "../../../src/session/options.ts";

const { signal } = new AbortController();

function srvr(mode: string, zxid: string): string {
  return `Zookeeper version: 3.8.0-x, built on 2022-02-25\nZxid: ${zxid}\nMode: ${mode}\n`;
}

/** Servers by address; each answer is used once, the last one again and again. */
function fakeServers(
  ips: Readonly<Record<string, readonly string[]>>,
  answers: Readonly<Record<string, string[]>>,
): Servers {
  return {
    options: async () => ({ servers: [] }),
    attached: () => undefined,
    async ask({ host }, _word, ip = host) {
      const [next, ...later] = answers[ip] ?? [];
      if (next === undefined) return { kind: "failed", why: "refused", says: "connection refused" };
      if (later.length > 0) answers[ip]?.shift();
      return { kind: "answered", bytes: Buffer.from(next), ms: 1 };
    },
    async addresses(host): Promise<HostAddresses> {
      const found = ips[host];
      return found ? { kind: "found", ips: found } : { kind: "failed", says: "no such host" };
    },
  };
}

const at = (...hosts: string[]): ServerAddress[] => hosts.map((host) => ({ host, port: 2181 }));

describe("askServers", () => {
  test("asks each address of a name", async () => {
    const servers = fakeServers(
      { zk: ["10.0.0.1", "10.0.0.2"] },
      { "10.0.0.1": [srvr("leader", "0x1")] },
    );
    const asked = await askServers(servers, at("zk"));
    expect(asked.map(({ name, answer }) => [name, answer.kind])).toEqual([
      ["zk:2181 (10.0.0.1)", "status"],
      ["zk:2181 (10.0.0.2)", "failed"],
    ]);
  });

  test("takes an IPv4 and an IPv6 address for one server", async () => {
    const servers = fakeServers(
      { localhost: ["::1", "127.0.0.1"] },
      { localhost: [srvr("standalone", "0x1")] },
    );
    expect((await askServers(servers, at("localhost"))).map(({ name }) => name)).toEqual([
      "localhost:2181",
    ]);
  });

  test.each([
    ["garbage", "\u0000\u0001".repeat(1_000), "unknown"],
    ["nothing of srvr", "imok", "unknown"],
    ["no quorum", "This ZooKeeper instance is not currently serving requests\n", "not-serving"],
  ])("knows an answer of %s", async (_, answer, kind) => {
    const [asked] = await askServers(fakeServers({ a: ["1.1.1.1"] }, { a: [answer] }), at("a"));
    expect(asked?.answer.kind).toBe(kind);
  });
});

describe("findLags", () => {
  const names = { a: ["1.1.1.1"], b: ["1.1.1.2"] };
  const lags = async (leader: string, ...follower: string[]) => {
    const servers = fakeServers(names, {
      a: [srvr("leader", leader)],
      b: follower.map((zxid) => srvr("follower", zxid)),
    });
    return findLags(servers, await askServers(servers, at("a", "b")), signal);
  };

  test("is nothing where the follower is at the leader's transaction, or further", async () => {
    expect(await lags("0x100000005", "0x100000005")).toEqual([]);
    expect(await lags("0x100000005", "0x100000009")).toEqual([]);
  });

  test("is nothing where the follower catches up", async () => {
    expect(await lags("0x100000005", "0x100000001", "0x100000002", "0x100000006")).toEqual([]);
  });

  test("is nothing right after an election: a follower takes over no transaction of it", async () => {
    expect(await lags("0x200000000", "0x100000005")).toEqual([]);
  });

  test("is what a follower lacks two seconds later", async () => {
    expect(await lags("0x100000005", "0x100000001", "0x100000003")).toMatchObject([
      { zxid: 0x100000003n, leaderZxid: 0x100000005n },
    ]);
  });
});
