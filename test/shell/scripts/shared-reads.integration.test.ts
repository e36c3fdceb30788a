import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Session } from "../../../src/session/session.ts";
import { shareReads } from "../../../src/shell/scripts/shared-reads.ts";
import { Opcode } from "../../../src/wire/protocol.ts";
import { StubSession } from "../../commands/stub-session.ts";
import { behindProxy } from "../../support/behind-proxy.ts";
import { type FakeServer, startFakeServer } from "../../support/fake-server.ts";
import { openFresh } from "../../support/fresh-session.ts";
import { openFor, rejection } from "../../support/open-session.ts";

const MEGABYTE = 1024 * 1024;

describe("what is asked for in one turn", () => {
  const given = { "/a": "1", "/b": "2", "/c": "3" };
  let stub: StubSession;
  let session: Session;

  beforeEach(async () => {
    stub = new StubSession(given);
    session = shareReads(stub.asSession());
  });

  test("leaves as one request", async () => {
    const [a, children, c] = [
      session.getData("/a"),
      session.getChildren("/"),
      session.getData("/c"),
    ];
    expect([String((await a).data), (await children).toSorted(), String((await c).data)]).toEqual([
      "1",
      ["a", "b", "c"],
      "3",
    ]);
    expect(stub.asked).toEqual(["multiRead /a / /c"]);
  });

  test("leaves as it is when it is alone", async () => {
    await session.getData("/a");
    await session.getData("/b");
    expect(stub.asked).toEqual(["getData /a", "getData /b"]);
  });

  test("is overtaken by nothing, before and after the server is known to have multiRead", async () => {
    for (const version of [0, 1]) {
      stub.asked.length = 0;
      const answers = [
        session.getData("/a"),
        session.getData("/b"),
        session.setData("/a", Buffer.from("new"), { version }),
        session.getData("/a"),
        session.getData("/b"),
        session.exists("/a"),
      ];
      await Promise.all(answers);
      const flat = stub.asked.map((asked) =>
        asked.replace("multiRead", "getData").replace(" /a /b", " /a,getData /b"),
      );
      expect(flat.join()).toBe("getData /a,getData /b,setData /a,getData /a,getData /b,exists /a");
      // Now it knows.
      await Promise.all([session.getData("/a"), session.getData("/b")]);
      expect(stub.asked.at(-1)).toBe("multiRead /a /b");
    }
  });

  test("goes alone with a watch or a deadline of its own", async () => {
    await Promise.all([session.getData("/a"), session.getData("/b")]);
    stub.asked.length = 0;
    await Promise.all([
      session.getData("/a"),
      session.getData("/b"),
      session.getData("/c", { watch: () => {} }),
      session.getData("/a", { timeoutMs: 5_000 }),
    ]);
    expect(stub.asked).toEqual(["multiRead /a /b", "getData /c", "getData /a"]);
  });

  test("goes one by one to a server without multiRead", async () => {
    stub.isOld = true;
    await Promise.all([session.getData("/a"), session.getData("/b")]);
    expect(stub.asked).toEqual(["getData /a", "getData /b"]);
  });

  test("fails each alone", async () => {
    const [a, none, b] = [session.getData("/a"), session.getData("/none"), session.getData("/b")];
    expect(await rejection(none)).toMatchObject({ reason: "no-node", path: "/none" });
    expect([(await a).data, (await b).data].join()).toBe("1,2");
    expect(stub.asked).toEqual(["multiRead /a /none /b"]);
  });

  test("ends with its signal", async () => {
    const stop = new AbortController();
    const signal = stop.signal;
    const reads = ["/a", "/b", "/c"].map((path) => rejection(session.getData(path, { signal })));
    stop.abort(new Error("enough"));
    for (const error of await Promise.all(reads))
      expect(error).toMatchObject({ reason: "interrupted" });
  });
});

describe("on a real server", () => {
  test("data, stats and refusals are those of plain reads", async () => {
    const plain = await openFresh();
    await plain.create("/text", Buffer.from("text"));
    await plain.create("/null", null);
    await plain.create("/empty", Buffer.alloc(0));
    await plain.create("/secret", null, { acl: [{ perms: 2, scheme: "world", id: "anyone" }] });
    const shared = shareReads(plain);
    const look = (session: Session) => {
      const paths = ["/text", "/null", "/empty", "/secret", "/none", "bad", "/"];
      const reads = paths.flatMap((path) => [session.getData(path), session.getChildren(path)]);
      return Promise.allSettled(reads);
    };
    const strip = (outcomes: PromiseSettledResult<unknown>[]) =>
      outcomes.map((outcome) => {
        if (outcome.status === "rejected") return { ...outcome, reason: String(outcome.reason) };
        const { value } = outcome as PromiseFulfilledResult<{ data?: unknown; stat?: unknown }>;
        return Array.isArray(value) ? value : { data: value.data, stat: value.stat };
      });
    const expected = strip(await look(plain));
    // The bad path fails the whole request first; what was good in it is read all the same.
    expect(strip(await look(shared))).toEqual(expected);
    expect(strip(await look(shared))).toEqual(expected);
  });

  test("long answers are asked for in smaller pieces", async () => {
    const plain = await openFresh();
    const paths = Array.from({ length: 40 }, (_, i) => `/n${i}`);
    await Promise.all(paths.map((path, i) => plain.create(path, Buffer.alloc(0.9 * MEGABYTE, i))));
    const sizes: number[] = [];
    const counted = new Proxy(plain, {
      get(target, key: keyof Session) {
        if (key === "multiRead") {
          return (ops: Parameters<Session["multiRead"]>[0]) => {
            sizes.push(ops.length);
            return target.multiRead(ops);
          };
        }
        const value = target[key];
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const shared = shareReads(counted);
    for (const round of [1, 2]) {
      const found = await Promise.all(paths.map((path) => shared.getData(path)));
      expect([round, ...found.map(({ data }) => data?.[5])]).toEqual([round, ...paths.keys()]);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16);
    expect(sizes.length).toBeLessThanOrEqual(3);
  });

  test("a broken connection does no harm", async () => {
    const { session, proxy, other } = await behindProxy();
    const paths = Array.from({ length: 100 }, (_, i) => `/n${i}`);
    await Promise.all(paths.map((path) => other.create(path, Buffer.from(path))));
    const shared = shareReads(session);
    await Promise.all([shared.getData("/n1"), shared.getData("/n2")]);
    proxy.stall("to-client");
    const reads = paths.map((path) => shared.getData(path));
    proxy.onBytes = (direction) => {
      if (direction === "to-client") proxy.drop();
      proxy.onBytes = () => {};
      proxy.resume();
    };
    const found = await Promise.all(reads);
    expect(found.map(({ data }) => String(data))).toEqual(paths);
  });
});

describe("a server that says it has multiRead and has not", () => {
  let server: FakeServer;

  test("is asked plainly once that is known", async () => {
    server = await startFakeServer({
      srvr: "Zookeeper version: 3.8.0, built on some day\n",
      onRequest({ opcode }, reply) {
        if (opcode === Opcode.getData)
          return reply.ok(Buffer.concat([Buffer.from([0, 0, 0, 1, 0x78]), Buffer.alloc(68)]));
        if (opcode !== Opcode.multiRead) return false;
        return reply.close();
      },
    });
    onTestFinished(() => server.close());
    const session = shareReads(openFor(server.address));
    const [a, b] = await Promise.all([session.getData("/a"), session.getData("/b")]);
    expect(`${a.data}${b.data}`).toBe("xx");
    const asked = () => server.connections.flatMap(({ opcodes }) => opcodes);
    const before = asked().filter((opcode) => opcode === Opcode.multiRead).length;
    await Promise.all([session.getData("/a"), session.getData("/b")]);
    expect(asked().filter((opcode) => opcode === Opcode.multiRead)).toHaveLength(before);
  });
});
