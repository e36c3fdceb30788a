/**
 * The promise of lock-lost.integration.test.ts, kept by three servers: one of them may fail without anybody
 * noticing.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { type Ensemble, startEnsemble } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { LOCK, Scene } from "./lock-scene.ts";

const SHORT = ["--session-timeout", "2s"];

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await startEnsemble(3, { tickTime: 300 });
});

afterAll(() => ensemble.stop());

test.for([
  { role: "follower", part: "the server it talks to stands still", fault: "pause" },
  { role: "leader", part: "the server it talks to stands still, and leads", fault: "pause" },
  { role: "follower", part: "the network to all of them swallows everything", fault: "blackhole" },
] as const)(
  "$part: stopped before another holder gets the lock",
  async ({ role, fault }, context) => {
    const leader = await ensemble.leader();
    const [follower = leader] = await ensemble.followers();
    const spoilt = role === "leader" ? leader : follower;
    const others = ensemble.servers
      .filter((server) => server !== spoilt)
      .map(({ address }) => address);
    const scene = await Scene.at(context, others.join());
    const networks = await Promise.all(
      ensemble.servers.map(({ address }) => scene.network(address)),
    );
    const through =
      fault === "pause" ? spoilt.address : networks.map(({ proxy }) => proxy.address).join();
    const { zksh, beat } = await scene.holding(SHORT, {
      server: `${through}${scene.chroot}`,
      words: ["stubborn"],
    });
    const rival = await scene.rival();
    context.onTestFinished(async () => {
      spoilt.resume();
      await ensemble.waitForQuorum();
    });
    if (fault === "pause") spoilt.pause();
    else for (const { proxy } of networks) proxy.blackhole();
    expect(await zksh.result).toMatchObject({
      code: 120,
      stderr: expect.stringMatching(/sent TERM(.*\n)+sent KILL/),
    });
    expect(beat.signals).toEqual(["SIGTERM"]);
    expect(beat.lastAt).toBeLessThan(await rival.gotAt);
  },
);

test("the death of the leader does not disturb the program, and tokens still grow", async (context) => {
  const scene = await Scene.at(context, ensemble.connectString);
  const { zksh, beat } = await scene.holding(["--session-timeout", "15s"]);
  const token = (await scene.session.exists(await scene.queue(1)))?.czxid;
  const rival = await scene.rival();
  const leader = await ensemble.leader();
  await leader.kill();
  context.onTestFinished(() => leader.restart());
  await ensemble.leader();
  // A write says that all is well again.
  await eventually(() => scene.session.setData("/", Buffer.from("x")));
  await beat.goesOn();
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
  expect(beat.signals).toEqual([]);
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
  expect(await rival.token).toBeGreaterThan(token ?? 0n);
  const last = await new Mutex(scene.open(), LOCK).use(async ({ fencingToken }) => fencingToken);
  // Another leader, another epoch.
  expect(last >> 32n).toBeGreaterThan((token ?? 0n) >> 32n);
});
