import { describe, expect, test } from "vitest";
import type { WatchEvent } from "../../src/session/session.ts";
import {
  expire,
  fake,
  MANY_PATHS,
  open,
  real,
  strangeEventServer,
  watchWarnings,
} from "../support/defect-experiments.ts";
import { eventually } from "../support/eventually.ts";
import { freshChroot } from "../support/shared-server.ts";

// Our session in the situations in which node-zookeeper-client 1.1.3 fails. The same experiments with
// that package: test/defects/watches.test.ts.

describe("an event of an unknown type", () => {
  test("an event of an unknown type changes nothing", async () => {
    const server = await strangeEventServer();
    const session = open(server.address);
    const heard: unknown[] = [];
    expect(await session.exists("/a", { watch: (event) => heard.push(event) })).toBeUndefined();
    expect(await session.exists("/a")).toBeUndefined();
    expect(heard).toEqual([]);
    expect(server.connections).toHaveLength(1);
  });
});

describe("more watches than fit into one request", () => {
  test("11,000 watches survive a dropped connection, after one reconnect", async () => {
    const { proxy, proxied, direct } = await real();
    const session = open(proxied);
    const heard: string[] = [];
    const watch = ({ path }: { path: string }) => heard.push(path);
    await Promise.all(MANY_PATHS.map((path) => session.exists(path, { watch })));
    const states: string[] = [];
    session.onState(({ state }) => states.push(state));
    proxy.drop();
    await eventually(() => states.includes("connected"));
    const [first = "", last = ""] = [MANY_PATHS[0], MANY_PATHS.at(-1)];
    const other = open(direct);
    await Promise.all([other.create(first, null), other.create(last, null)]);
    await eventually(() => expect(heard).toEqual([first, last]));
    expect(states).toEqual(["suspended", "connected"]);
  });
});

describe("watches when the session expires", () => {
  test("every watch hears once that the session is lost", async () => {
    const server = await fake();
    const session = open(server.address);
    const heard: WatchEvent[] = [];
    const watch = (event: WatchEvent) => heard.push(event);
    await session.exists("/a", { watch });
    await expire(server);
    await eventually(() => session.state === "lost");
    expect(heard).toEqual([{ type: "lost", path: "/a" }]);
  });
});

describe("more than ten listeners on one path", () => {
  test("twenty listeners on one path are no leak, and those taken off hear nothing", async () => {
    const session = open(await freshChroot());
    const warnings = watchWarnings();
    const heard: number[] = [];
    const listeners = Array.from({ length: 20 }, (_, index) => () => heard.push(index));
    await Promise.all(listeners.map((watch) => session.exists("/a", { watch })));
    await Promise.all(listeners.slice(2).map((watch) => session.removeWatch("/a", watch)));
    await session.create("/a", null);
    await eventually(() => expect(heard).toEqual([0, 1]));
    await session.exists("/a");
    expect(heard).toEqual([0, 1]);
    expect(warnings).toEqual([]);
  });
});
