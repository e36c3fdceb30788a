import { describe, expect, test } from "vitest";
import {
  answerUnderWay,
  fake,
  lastConnection,
  Op,
  open,
  real,
  turnAwayFiveTimes,
} from "../support/defect-experiments.ts";
import { eventually } from "../support/eventually.ts";

// Our session in the situations in which node-zookeeper-client 1.1.3 fails. The same experiments with
// that package: test/defects/credentials.test.ts.

const AUTH = [{ scheme: "digest", credential: Buffer.from("ann:secret") }];

describe("the order of credentials, watches and queued requests after a reconnect", () => {
  test("after a reconnect credentials and watches leave first, queued requests behind them", async () => {
    const server = await fake();
    const session = open(server.address, { auth: AUTH });
    await session.exists("/watched", { watch: () => {} });
    await server.close();
    await eventually(() => session.state === "suspended");
    const queued = Promise.allSettled([session.create("/a", null), session.delete("/b")]);
    await server.listen();
    await queued;
    expect(lastConnection(server).opcodes).toEqual([Op.auth, Op.setWatches, Op.create, Op.delete]);
  });

  test("a request queued while disconnected has the rights of the session", async () => {
    const { proxy, proxied } = await real();
    const session = open(proxied, { auth: AUTH });
    await session.create("/mine", Buffer.from("x"), {
      acl: [{ perms: 31, scheme: "auth", id: "" }],
    });
    await proxy.refuse();
    await eventually(() => session.state === "suspended");
    const read = session.getData("/mine");
    await proxy.listen();
    expect((await read).data?.toString()).toBe("x");
  });
});

describe("a credential added during the handshake", () => {
  test("a credential given while the handshake is under way is proved on that connection", async () => {
    const { server, proxy, arrived } = await answerUnderWay();
    const session = open(proxy.address);
    await arrived;
    const proved = session.addAuth("digest", Buffer.from("ann:secret"));
    proxy.resume();
    await proved;
    expect(server.connections.map(({ opcodes }) => opcodes)).toEqual([[Op.auth]]);
  });
});

describe("credentials and watches after failed handshakes", () => {
  test("after five refusals credentials and watches are sent once", async () => {
    const server = await fake();
    const session = open(server.address, { auth: AUTH });
    await session.exists("/watched", { watch: () => {} });
    await turnAwayFiveTimes(server);
    await session.exists("/a");
    expect(lastConnection(server).opcodes).toEqual([Op.auth, Op.setWatches, Op.exists]);
  });
});
