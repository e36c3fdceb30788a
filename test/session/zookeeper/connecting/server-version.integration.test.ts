import { afterEach, describe, expect, test } from "vitest";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { Endpoint } from "../../../../src/session/zookeeper/connecting/link.ts";
import {
  askRelease,
  parseRelease,
  SINCE,
} from "../../../../src/session/zookeeper/connecting/server-version.ts";
import {
  isAtLeast,
  type Version,
} from "../../../../src/session/zookeeper/connecting/version-number.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FakeServer, startFakeServer } from "../../../support/fake-server.ts";
import { freePort } from "../../../support/free-port.ts";
import { sharedServer } from "../../../support/shared-server.ts";

function endpointOf(address: string): Endpoint {
  const [{ host, port } = { host: "", port: 0 }] = parseConnectString(address).servers;
  return { address, host, ip: host, port };
}

describe("parseRelease", () => {
  test.each<[string, Version | undefined]>([
    [
      "Zookeeper version: 3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019",
      [3, 4, 14],
    ],
    ["Zookeeper version: 3.5.10--1, built on 2022", [3, 5, 10]],
    ["Zookeeper version: 3.9.3-c26634f34490bb0ea7a09cc51e05ede3b4e320ee, built on 2024", [3, 9, 3]],
    ["Zookeeper version: 10.20.30-SNAPSHOT", [10, 20, 30]],
    ["srvr is not executed because it is not in the whitelist.", undefined],
    ["This ZooKeeper instance is not currently serving requests", undefined],
    ["", undefined],
  ])("reads '%s'", (text, version) => {
    expect(parseRelease(text)).toEqual(version && { product: "ZooKeeper", version });
  });

  test.each<[string, Version]>([
    [
      "ClickHouse Keeper version: v23.3.1.2823-46e85357ce2da2a99f56ee83a079e892d7ec3726",
      [23, 3, 1],
    ],
    ["ClickHouse Keeper version: v21.11.1.1-prestable-7a4a0b0edef0ad6e0aa662cd3b90", [21, 11, 1]],
  ])("knows ClickHouse Keeper by '%s'", (text, version) => {
    expect(parseRelease(text)).toEqual({ product: "ClickHouse Keeper", version });
  });
});

test.each<[Version, Version, boolean]>([
  [[3, 6, 0], [3, 6, 0], true],
  [[3, 6, 1], [3, 6, 0], true],
  [[3, 5, 9], [3, 6, 0], false],
  [[3, 10, 0], [3, 6, 5], true],
  [[4, 0, 0], [3, 6, 5], true],
  [[2, 9, 9], [3, 0, 0], false],
  [[3, 5, 2], [3, 5, 3], false],
])("%j is at least %j: %s", (version, least, isEnough) => {
  expect(isAtLeast(version, least)).toBe(isEnough);
});

test("no operation is younger than the newest server", () => {
  for (const since of Object.values(SINCE)) expect(isAtLeast([3, 9, 0], since)).toBe(true);
});

describe("askRelease", () => {
  let server: FakeServer | undefined;

  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  test("asks a real server", async () => {
    const release = await askRelease(endpointOf(sharedServer()), undefined);
    expect(release).toEqual({
      product: "ZooKeeper",
      version: [3, expect.any(Number), expect.any(Number)],
    });
    expect(isAtLeast(release?.version as Version, [3, 5, 0])).toBe(true);
  });

  test("is content without an answer", async () => {
    expect(
      await askRelease(endpointOf(`127.0.0.1:${await freePort()}`), undefined),
    ).toBeUndefined();
    server = await startFakeServer({ onConnection: (connection) => connection.close() });
    expect(await askRelease(endpointOf(server.address), undefined)).toBeUndefined();
  });

  test("does not wait for a server that says nothing", async () => {
    server = await startFakeServer();
    const startedAt = performance.now();
    expect(await askRelease(endpointOf(server.address), undefined)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    expect(server.connections).toHaveLength(1);
    await eventually(() => server?.connections[0]?.isOpen === false);
  });
});
