import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { LOCK, Scene } from "./lock-scene.ts";

let server: ZooKeeperServer;

beforeAll(async () => {
  server = await startServer({ jvmFlags: ["-Djute.maxbuffer=500"] });
});

afterAll(() => server.stop());

test.concurrent.for([
  { words: ["lock", LOCK] },
  { words: ["lock", "--recipe", "unique", LOCK] },
  { words: ["sem", "--limit", "2", LOCK] },
])(
  "$words: a ticket that the server does not take is 123, with the reason",
  async ({ words }, context) => {
    const scene = await Scene.at(context, server.address);
    const why = "w".repeat(500);
    const { code, stderr } = await scene.run([...words, "--why", why, "--", "true"]);
    expect(stderr).toMatch(/the request for \/l(\/leases)? is larger than the server accepts\n/);
    expect(stderr).toContain("jute.maxbuffer");
    expect(code).toBe(123);
  },
);

test.concurrent("a ticket that fits is taken", async (context) => {
  const scene = await Scene.at(context, server.address);
  expect(await scene.run(["lock", "--recipe", "unique", LOCK, "--", "true"])).toMatchObject({
    code: 0,
  });
});
