import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "./eventually.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import { openFor } from "./open-session.ts";
import { freshChroot, sharedServer } from "./shared-server.ts";
import { startServer, type ZooKeeperServer } from "./zookeeper-server.ts";

async function count(address: string): Promise<number> {
  return Number(/^Node count: (\d+)$/m.exec(await fourLetterWord(address, "srvr"))?.[1]);
}

describe("a server of one's own", () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await startServer({ config: { maxClientCnxns: "7" } });
  });

  afterAll(async () => {
    await server.stop();
  });

  test("runs with the configuration given", async () => {
    const config = await fourLetterWord(server.address, "conf");
    expect(config).toContain("tickTime=500\n");
    expect(config).toContain("maxClientCnxns=7\n");
    expect(server.pid).toBeGreaterThan(0);
  });

  test("keeps port and data when it is killed and restarted", async () => {
    await freshChroot(server.address);
    const [before, pid] = [await count(server.address), server.pid];
    await server.kill();
    expect(server.pid).toBe(0);
    await expect(fourLetterWord(server.address, "ruok")).rejects.toThrow("ECONNREFUSED");
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await count(server.address)).toBe(before);
  });

  test("answers nobody while it is paused", async () => {
    server.pause();
    // The kernel stops its threads one after the other: the first answer may still slip through.
    await eventually(() =>
      expect(fourLetterWord(server.address, "ruok", 200)).rejects.toThrow("no answer to ruok"),
    );
    server.resume();
    expect(await fourLetterWord(server.address, "ruok")).toBe("imok");
  });

  test("can be stopped while it is paused, and leaves nothing behind", async () => {
    const other = await startServer();
    const { pid } = other;
    other.pause();
    await other.stop();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(existsSync(other.dataDir)).toBe(false);
  });

  test("shows the server's own words when it does not start", async () => {
    await expect(startServer({ port: server.port })).rejects.toThrow("Address already in use");
  });
});

test("says so when there is no Java", async () => {
  vi.stubEnv("PATH", "/nonexistent");
  await expect(startServer()).rejects.toThrow("spawn java ENOENT");
  vi.unstubAllEnvs();
});

describe("the shared server", () => {
  test("gives every test a znode of its own", async () => {
    const chroots = await Promise.all([freshChroot(), freshChroot()]);
    expect(new Set(chroots).size).toBe(2);
    expect(chroots[0]).toMatch(/^127\.0\.0\.1:\d+\/test-[0-9a-f-]{36}$/);
    expect(chroots[0]?.split("/")[0]).toBe(sharedServer());
    expect(await Promise.all(chroots.map((chroot) => openFor(chroot).getChildren("/")))).toEqual([
      [],
      [],
    ]);
  });

  test("fails when there is no server to make one", async () => {
    await expect(freshChroot("127.0.0.1:1")).rejects.toThrow("ECONNREFUSED");
  });
});
