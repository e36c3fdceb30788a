/**
 * cp, import and mv while connections are cut at random: the command is run again until it
 * succeeds, and then source and target are compared. `ZKSH_CUTS_SEED` and `ZKSH_CUTS_ROUNDS` choose
 * other rounds.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Permission, type Session } from "../../src/session/session.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { Random } from "../support/random.ts";
import { plantRandomTree, snapshot, zksh } from "../support/random-trees.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const FIRST_SEED = Number(process.env.ZKSH_CUTS_SEED ?? 501);
const ROUNDS = Number(process.env.ZKSH_CUTS_ROUNDS ?? 4);
const seeds = Array.from({ length: ROUNDS }, (_, round) => FIRST_SEED + round);
const ZNODES = 100;
const LEAVES = 1_500;
/** Runs of one command; later ones are not cut, so that the end is reached. */
const RUNS = 12;
const CUT_RUNS = 8;
/** A request is given up after three broken connections. */
const CUTS_PER_RUN = 3;

/** Forbids to create children, as cp and import must cope with, and lets mv delete them. */
const NO_CREATE = [
  { scheme: "world", id: "anyone", perms: Permission.all & ~Permission.create },
] as const;

interface Scene {
  readonly session: Session;
  readonly proxies: readonly [FaultProxy, FaultProxy];
  /** The chroot of the source, through the first proxy. */
  readonly server: string;
  /** A chroot of its own, through the second proxy. */
  readonly other: { readonly place: string; readonly session: Session };
}

async function prepare(): Promise<Scene> {
  const address = sharedServer();
  const port = Number(address.split(":")[1]);
  const proxies = [await startFaultProxy(port), await startFaultProxy(port)] as const;
  for (const proxy of proxies) onTestFinished(() => proxy.close());
  const [here, there] = [await freshChroot(), await freshChroot()];
  return {
    session: openFor(here),
    proxies,
    server: here.replace(address, proxies[0].address),
    other: { place: `zk://${there.replace(address, proxies[1].address)}`, session: openFor(there) },
  };
}

let cuts = 0;

/** Cuts connections with some of the chunks, in the middle of a frame or with it. */
function cutAtRandom(proxy: FaultProxy, random: Random): void {
  let left = random.index(CUTS_PER_RUN + 1);
  proxy.onBytes = (direction) => {
    if (left === 0 || !random.chance(0.15)) return;
    left -= 1;
    cuts += 1;
    if (random.chance(0.5)) proxy.drop();
    else proxy.cutMidFrame(direction);
  };
}

/** Runs a command until it succeeds, on connections that break. */
async function runUntilDone(
  { proxies, server }: Scene,
  seed: number,
  argv: readonly string[],
  afterFailure: () => Promise<void> = async () => {},
): Promise<void> {
  const random = new Random(seed);
  const failures: string[] = [];
  for (let run = 0; run < RUNS; run++) {
    for (const proxy of proxies) {
      proxy.heal();
      if (run < CUT_RUNS) cutAtRandom(proxy, random);
      else proxy.onBytes = () => {};
    }
    const { code, stderr } = await runZksh(["-s", server, "-y", ...argv], { timeoutMs: 60_000 });
    if (code === 0) return;
    failures.push(`${code}: ${stderr}`);
    // A cut connection, or what it kept from being done; never a conflict with our own copy.
    expect([6, 8], failures.join("\n")).toContain(code);
    await afterFailure();
  }
  throw new Error(`not done after ${RUNS} runs:\n${failures.join("\n")}`);
}

describe.each(seeds)("with connections cut at random (seed %i)", (seed) => {
  beforeAll(() => {
    cuts = 0;
  });
  afterAll(() => expect(cuts).toBeGreaterThan(2));

  test("cp copies everything to other servers", async () => {
    const scene = await prepare();
    await plantRandomTree(scene.session, seed, { acl: NO_CREATE, znodes: ZNODES, leaves: LEAVES });
    const source = await snapshot(scene.session, "/src");
    const target = `${scene.other.place}/copy`;
    await runUntilDone(scene, seed, ["cp", "-r", "-p", "--exact", "/src", target]);
    expect(await snapshot(scene.other.session, "/copy")).toEqual(source);
    expect(await snapshot(scene.session, "/src")).toEqual(source);
  });

  test("import restores everything", async () => {
    const scene = await prepare();
    await plantRandomTree(scene.session, seed, { acl: NO_CREATE, znodes: ZNODES, leaves: LEAVES });
    const source = await snapshot(scene.session, "/src");
    const file = join(temporaryDirectory("cuts"), `${seed}.jsonl`);
    expect(await zksh(scene.server, "export", "/src", "-o", file)).toMatchObject({ code: 0 });
    await runUntilDone(scene, seed, ["import", "--exact", file, "/back"]);
    expect(await snapshot(scene.session, "/back")).toEqual(source);
  });

  test("mv in one transaction moves everything or nothing", async () => {
    const scene = await prepare();
    await plantRandomTree(scene.session, seed, { acl: null, znodes: ZNODES });
    const source = await snapshot(scene.session, "/src");
    const { session } = scene;
    await runUntilDone(scene, seed, ["mv", "--exact", "/src", "/dst"], async () => {
      expect(await session.exists("/dst")).toBeUndefined();
      expect(await snapshot(session, "/src")).toEqual(source);
    });
    expect(await snapshot(session, "/dst")).toEqual(source);
    expect(await session.exists("/src")).toBeUndefined();
  });

  test.each(["within one server", "to other servers"])(
    "mv that copies moves everything %s",
    async (where) => {
      const scene = await prepare();
      await plantRandomTree(scene.session, seed, {
        acl: NO_CREATE,
        znodes: ZNODES,
        leaves: LEAVES,
        large: 30,
      });
      const source = await snapshot(scene.session, "/src");
      const isWithin = where === "within one server";
      const target = isWithin ? "/dst" : `${scene.other.place}/dst`;
      await runUntilDone(scene, seed, ["mv", "--exact", "/src", target]);
      expect(await snapshot(isWithin ? scene.session : scene.other.session, "/dst")).toEqual(
        source,
      );
      expect(await scene.session.exists("/src")).toBeUndefined();
    },
  );
});

/** All of the source is in one of both trees, with its data. */
async function expectNothingLost(session: Session, source: Map<string, string>): Promise<void> {
  const left = await snapshot(session, "/src").catch(() => new Map<string, string>());
  const moved = await snapshot(session, "/dst").catch(() => new Map<string, string>());
  const dataOf = (text = "[null]") => JSON.parse(text)[0];
  for (const [path, value] of source)
    expect([dataOf(left.get(path)), dataOf(moved.get(path))]).toContain(dataOf(value));
}

describe.each(["SIGKILL", "SIGINT"] as const)("mv that is ended by %s", (signal) => {
  test("at any time loses nothing, and can be run again", async () => {
    const scene = await prepare();
    const { session, server, proxies } = scene;
    const [proxy] = proxies;
    let chunks = 0;
    proxy.onBytes = (direction) => {
      if (direction === "to-server") chunks += 1;
    };
    const argv = ["-s", server, "-y", "mv", "--exact", "/src", "/dst"];
    const plant = async () => {
      await plantRandomTree(session, 77, { acl: NO_CREATE, znodes: 60, large: 30 });
      return snapshot(session, "/src");
    };
    await plant();
    expect(await runZksh(argv)).toMatchObject({ code: 0 });
    const all = chunks;
    const told = new Set<string>();
    for (let at = 1; at <= all; at += Math.max(1, Math.floor(all / 8))) {
      await zksh(server, "-y", "deleteall", "/dst");
      const source = await plant();
      chunks = 0;
      const process = startZksh(argv);
      proxy.onBytes = (direction) => {
        if (direction === "to-server" && ++chunks === at) process.kill(signal);
      };
      const { code, stderr } = await process.result;
      proxy.onBytes = () => {};
      await expectNothingLost(session, source);
      const isDone = (await session.exists("/src")) === undefined;
      if (signal === "SIGINT" && !isDone) {
        const hasBegun = (await session.exists("/dst")) !== undefined;
        const says = hasBegun
          ? /^interrupted: .*; the same command goes on$/m
          : /^interrupted(: .*; the same command goes on)?$/m;
        expect([code, stderr]).toEqual([130, expect.stringMatching(says)]);
        told.add(/is complete, the rest/.test(stderr) ? "deleting" : "copying");
      }
      if (!isDone) expect(await runZksh(argv)).toMatchObject({ code: 0 });
      expect(await snapshot(session, "/dst")).toEqual(source);
      expect(await session.exists("/src")).toBeUndefined();
    }
    if (signal === "SIGINT") expect([...told]).toContain("copying");
  });
});
