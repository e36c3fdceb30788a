import zookeeper from "node-zookeeper-client";
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
import { connectedPlain, connectPlain, DISCONNECTED, outcomeOf } from "./plain.ts";

// How node-zookeeper-client 1.1.3 fails. The same experiments with our session:
// test/session/defects-credentials.integration.test.ts.

const { NO_AUTH } = zookeeper.Exception;
const SECRET = Buffer.from("ann:secret");
const ignore = () => {};

describe("the order of credentials, watches and queued requests after a reconnect", () => {
  test("after a reconnect queued requests leave first", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    client.addAuthInfo("digest", SECRET);
    await outcomeOf((callback) => client.exists("/watched", ignore, callback)).settled();
    await server.close();
    await eventually(() => client.getState() === DISCONNECTED);
    client.create("/a", ignore);
    client.remove("/b", ignore);
    await server.listen();
    await eventually(() => lastConnection(server).opcodes.length === 4);
    expect(lastConnection(server).opcodes).toEqual([Op.create, Op.delete, Op.auth, Op.setWatches]);
  });

  test("a request queued while disconnected has no rights; the same request a moment later has them", async () => {
    const { proxy, proxied, direct } = await real();
    const owner = open(direct, { auth: [{ scheme: "digest", credential: SECRET }] });
    await owner.create("/mine", null, { acl: [{ perms: 31, scheme: "auth", id: "" }] });
    const client = await connectedPlain(proxied);
    client.addAuthInfo("digest", SECRET);
    const read = () => outcomeOf((callback) => client.getData("/mine", callback));
    expect((await read().settled()).error).toBeNull();
    await proxy.refuse();
    await eventually(() => client.getState() === DISCONNECTED);
    const queued = read();
    await proxy.listen();
    expect((await queued.settled()).error?.code).toBe(NO_AUTH);
    expect((await read().settled()).error).toBeNull();
  });
});

describe("a credential added during the handshake", () => {
  test("the server never sees the credential", async () => {
    const { server, proxy, arrived } = await answerUnderWay();
    const client = connectPlain(proxy.address);
    await arrived;
    client.addAuthInfo("digest", SECRET);
    proxy.resume();
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    expect(server.connections.map(({ opcodes }) => opcodes)).toEqual([[Op.exists]]);
  });
});

describe("credentials and watches after failed handshakes", () => {
  test("after five refusals both are sent six times", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    client.addAuthInfo("digest", SECRET);
    await outcomeOf((callback) => client.exists("/watched", ignore, callback)).settled();
    await turnAwayFiveTimes(server);
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    const count = (opcode: number) =>
      lastConnection(server).opcodes.filter((each) => each === opcode).length;
    expect([count(Op.auth), count(Op.setWatches)]).toEqual([6, 6]);
  });
});
