import { describe, expect, test } from "vitest";
import {
  expire,
  fake,
  MANY_PATHS,
  NEVER_MS,
  real,
  strangeEventServer,
  watchWarnings,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { connectedPlain, EXPIRED, outcomeOf, plainProcess } from "./plain.ts";

// How node-zookeeper-client 1.1.3 fails. The same experiments with our session:
// test/session/defects-watches.integration.test.ts.

const ignore = () => {};

describe("an event of an unknown type", () => {
  test("an event of an unknown type is an uncaught exception", async () => {
    const server = await strangeEventServer();
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    plain.run("exists /a");
    await plain.says("uncaught Error: Unknown event type: 5");
  });
});

describe("more watches than fit into one request", () => {
  test("with 11,000 watches one dropped connection becomes endless flapping", async () => {
    const { proxy, proxied } = await real();
    const client = await connectedPlain(proxied);
    const watch = (path: string) =>
      outcomeOf((callback) => client.exists(path, ignore, callback)).settled();
    await Promise.all(MANY_PATHS.map(watch));
    const states: string[] = [];
    client.on("state", ({ name }) => states.push(name));
    proxy.drop();
    await sleep(2_000);
    expect(states.filter((name) => name === "SYNC_CONNECTED").length).toBeGreaterThan(5);
    const before = states.length;
    await eventually(() => states.length > before);
  });
});

describe("watches when the session expires", () => {
  test("the watcher hears nothing", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    const heard: object[] = [];
    await outcomeOf((callback) =>
      client.exists("/a", (event) => heard.push(event), callback),
    ).settled();
    const states: object[] = [];
    client.on("state", (state) => states.push(state));
    await expire(server);
    await eventually(() => states.includes(EXPIRED));
    await sleep(NEVER_MS);
    expect(heard).toEqual([]);
  });
});

describe("more than ten listeners on one path", () => {
  test("the eleventh watcher is called a possible leak", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    const warnings = watchWarnings();
    for (let watcher = 0; watcher < 11; watcher++) {
      await outcomeOf((callback) => client.exists("/a", () => {}, callback)).settled();
    }
    await eventually(() => expect(warnings).toEqual(["MaxListenersExceededWarning"]));
  });
});
