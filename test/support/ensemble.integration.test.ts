import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ensemble, startEnsemble } from "./ensemble.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import { freshChroot } from "./shared-server.ts";

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await startEnsemble();
});

afterAll(async () => {
  await ensemble.stop();
});

test("has one leader and two followers", async () => {
  const followers = await ensemble.followers();
  expect(followers).toHaveLength(2);
  expect(followers).not.toContain(await ensemble.leader());
  expect(ensemble.connectString.split(",")).toEqual(
    ensemble.servers.map((server) => server.address),
  );
});

test("elects another leader when the first is killed, and takes the old one back", async () => {
  const first = await ensemble.leader();
  await first.kill();
  const second = await ensemble.leader();
  expect(second).not.toBe(first);
  await freshChroot(second.address);
  await first.restart();
  await ensemble.waitForQuorum();
  expect(await fourLetterWord(first.address, "srvr")).toContain("Mode: follower");
});

test("elects another leader when the first is paused", async () => {
  const first = await ensemble.leader();
  first.pause();
  expect(await ensemble.leader()).not.toBe(first);
  await ensemble.waitForQuorum();
  first.resume();
  await ensemble.waitForQuorum();
});

test("survives a rolling restart", async () => {
  for (const server of ensemble.servers) {
    await server.restart();
    await ensemble.waitForQuorum();
  }
  await freshChroot(ensemble.servers[0]?.address);
});

test("does not serve without a majority, and does again with one", async () => {
  const [first, second] = await ensemble.followers();
  await Promise.all([first?.kill(), second?.kill()]);
  await expect(ensemble.leader(500)).rejects.toThrow("does not serve");
  await expect(
    freshChroot(ensemble.servers.find((server) => server.isRunning)?.address),
  ).rejects.toThrow("no answer");
  await first?.restart();
  await ensemble.waitForQuorum();
});
