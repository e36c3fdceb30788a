import { describe, expect, test } from "vitest";
import type { ConnectionError } from "../../src/errors.ts";
import type { WatchEvent } from "../../src/session/session.ts";
import { ServerReleases } from "../../src/session/zookeeper/connecting/server-releases.ts";
import { ReadBatches } from "../../src/session/zookeeper/requests/read-batches.ts";
import { Request } from "../../src/session/zookeeper/requests/request.ts";
import { RequestQueue } from "../../src/session/zookeeper/requests/request-queue.ts";
import { ErrorCode } from "../../src/wire/protocol.ts";
import {
  answerThreeAtOnce,
  dropFirstCreate,
  errorServer,
  fake,
  growth,
  lastConnection,
  loseAnswer,
  negativeLengthServer,
  Op,
  open,
  real,
  syncServer,
  UNKNOWN_CODES,
} from "../support/defect-experiments.ts";
import { eventually } from "../support/eventually.ts";
import { freshChroot } from "../support/shared-server.ts";
import { collectUncaught } from "../support/uncaught.ts";

// Our session in the situations in which node-zookeeper-client 1.1.3 fails. The same experiments with
// that package: test/defects/requests.test.ts.

describe("an unknown error code in a reply", () => {
  // -124 (the server requires SASL) ends the session: test/session/zookeeper/sasl/.
  const ofRequests = UNKNOWN_CODES.filter(
    (code) => code !== ErrorCode.sessionClosedRequireSaslAuth,
  );

  test.each(ofRequests)("error %d becomes the failure of its request", async (code) => {
    const server = await errorServer();
    const session = open(server.address);
    await expect(session.exists(`/${code}`)).rejects.toMatchObject({ code, path: `/${code}` });
    await expect(session.exists("/-101")).resolves.toBeUndefined();
  });
});

describe("a version of 0 in a multi", () => {
  test("a delete of version 0 in a multi leaves a node of version 1 alone", async () => {
    const session = open(await freshChroot());
    await session.create("/a", null);
    await session.setData("/a", Buffer.from("1"));
    const removed = session.multi([{ op: "delete", path: "/a", version: 0 }]);
    await expect(removed).rejects.toMatchObject({ reason: "bad-version" });
    expect(await session.exists("/a")).toMatchObject({ version: 1 });
  });
});

describe("a reply to an operation that the package does not know", () => {
  test("an answer to an operation the package does not know reaches its caller, and the connection stays", async () => {
    const server = await syncServer();
    const session = open(server.address);
    await session.sync("/a");
    expect(server.connections).toHaveLength(1);
    expect(lastConnection(server).isOpen).toBe(true);
  });
});

describe("the cost of a long pipeline", () => {
  test("a read in a pipeline of 100,000 costs no more than one in a pipeline of 8,000", async () => {
    const server = await fake();
    // A busy machine may need many seconds for a pipeline, with both ends in this process.
    const session = open(server.address, { timeoutMs: 60_000 });
    await session.connected();
    const pipeline = (reads: number) =>
      Promise.all(Array.from({ length: reads }, () => session.exists("/a")));
    expect(await growth(100_000, pipeline)).toBeLessThan(1.5);
    expect(server.connections).toHaveLength(1);
  });
});

describe("request numbers after 2^31-1", () => {
  test("after 2^31-1 the numbers of requests begin again at 1", () => {
    const queue = new RequestQueue(
      new ReadBatches(new ServerReleases(undefined, async () => undefined)),
      0x7ffffffe,
    );
    const requests = Array.from({ length: 3 }, () => new Request(Op.exists, () => {}));
    for (const request of requests) queue.push(request);
    queue.load(0);
    const flight = queue.writer.take();
    const xids = [0, 1, 2].map((index) => flight.readInt32BE(index * 12 + 4));
    expect(xids).toEqual([0x7fffffff, 1, 2]);
    expect(xids.map((xid) => queue.sent.answered(xid))).toEqual(requests);
  });
});

describe("a request that is repeated when it fails", () => {
  test("a request that is repeated the moment it fails waits for the next connection", async () => {
    const server = await dropFirstCreate();
    const session = open(server.address);
    const seen: string[] = [];
    const insist = (): Promise<unknown> =>
      session.create("/a", null).catch((error: ConnectionError) => {
        seen.push(`${error.reason} while ${session.state}`);
        return error.reason === "connection-loss" && seen.length < 100 ? insist() : undefined;
      });
    await insist();
    expect(seen).toEqual(["connection-loss while suspended", "no-node while connected"]);
  });
});

describe("a callback or listener that throws", () => {
  // Before the next ping: what comes with its answer would hide that a reply had been left lying.
  const atOnce = { timeoutMs: 1_000 };

  test("three answers in one segment reach their callers though the first one's code throws", async () => {
    const server = await answerThreeAtOnce();
    const session = open(server.address);
    const clumsy = () => {
      throw new Error("clumsy");
    };
    const first = session.exists("/1").then(clumsy);
    const others = [session.exists("/2", atOnce), session.exists("/3", atOnce)];
    await expect(first).rejects.toThrow("clumsy");
    expect(await Promise.all(others)).toEqual([undefined, undefined]);
  });

  test("answers behind an event reach their callers though its listener throws, and the error is not hidden", async () => {
    const server = await answerThreeAtOnce({ withEvent: true });
    const session = open(server.address);
    const uncaught = collectUncaught();
    const watch = () => {
      throw new Error("clumsy");
    };
    await session.exists("/watched", { watch });
    await Promise.all(["/1", "/2", "/3"].map((path) => session.exists(path, atOnce)));
    await eventually(() => expect(uncaught).toEqual([new Error("clumsy")]));
    expect(server.connections).toHaveLength(1);
  });
});

describe("a sequential create without an answer", () => {
  test("a sequential create whose answer is lost is reported, not repeated", async () => {
    const { proxy, proxied, direct } = await real();
    const [session, other] = [open(proxied), open(direct)];
    await session.connected();
    let created: Promise<unknown> | undefined;
    const send = () => {
      created = session.create("/n-", null, { mode: "persistentSequential" });
      created.catch(() => {});
    };
    await loseAnswer(proxy, send, async () => (await other.getChildren("/")).length === 1);
    await expect(created).rejects.toMatchObject({ reason: "connection-loss", sent: true });
    expect(await session.getChildren("/")).toEqual(["n-0000000000"]);
  });
});

describe("a request that its caller has given up", () => {
  test("a request given up while disconnected is never sent", async () => {
    const { proxy, proxied } = await real();
    const session = open(proxied);
    await session.connected();
    await proxy.refuse();
    await eventually(() => session.state === "suspended");
    const aborter = new AbortController();
    const late = expect(session.create("/late", null, { timeoutMs: 50 })).rejects.toMatchObject({
      reason: "deadline",
      outcome: undefined,
    });
    const aborted = expect(
      session.create("/aborted", null, { signal: aborter.signal }),
    ).rejects.toMatchObject({
      reason: "interrupted",
      outcome: undefined,
    });
    aborter.abort();
    await Promise.all([late, aborted]);
    const wanted = session.create("/wanted", null);
    await proxy.listen();
    await wanted;
    expect(await session.getChildren("/")).toEqual(["wanted"]);
  });
});

describe("a frame of negative length", () => {
  test("a frame of negative length costs the connection, and nothing else", async () => {
    const server = await negativeLengthServer();
    const session = open(server.address);
    expect(await session.exists("/a")).toBeUndefined();
    expect(server.connections).toHaveLength(2);
  });
});

describe("setData() with null", () => {
  test("data can be set to null", async () => {
    const session = open(await freshChroot());
    await session.create("/a", Buffer.from("x"));
    await session.setData("/a", null);
    expect((await session.getData("/a")).data).toBeNull();
  });
});

describe("create2, createContainer, sync, removeWatches and addWatch", () => {
  test("all of them work", async () => {
    const trace: string[] = [];
    const session = open(await freshChroot(), { trace: (line) => trace.push(line) });
    const { path, stat } = await session.create2("/a", Buffer.from("x"));
    expect(path).toBe("/a");
    expect(stat).toEqual(await session.exists("/a"));
    await session.create("/box", null, { mode: "container" });
    // No answer tells a container from another znode; the operation that made it does.
    expect(trace.at(-1)).toMatch(/^createContainer \S+\/box -> ok/);
    await session.sync("/");
    const heard: WatchEvent[] = [];
    const listener = (event: WatchEvent) => heard.push(event);
    await session.addWatch("/", "recursive", listener);
    await session.create("/box/b", null);
    await eventually(() => expect(heard).toEqual([{ type: "created", path: "/box/b" }]));
    await session.removeWatch("/", listener);
    await session.delete("/box/b");
    await session.sync("/");
    expect(heard).toHaveLength(1);
  });
});
