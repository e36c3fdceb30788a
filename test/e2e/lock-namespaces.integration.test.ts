/**
 * Containers: a /proc that is missing, or that of another pid namespace, does not keep a command
 * from being stopped in time. Every command here ignores SIGTERM. Needs root on Linux, for
 * unshare(1).
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { kill, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
/** Long enough for a busy machine: a beat that is late by 2 s must not lose the lock. */
const SHORT = ["--session-timeout", "6s"];
const SHORT_REACH =
  "/proc does not show zksh its own processes: only the process group of the command can be stopped";

let server: ZooKeeperServer;
let terminals: Terminals;

beforeAll(async () => {
  if (process.getuid?.() !== 0)
    throw new Error("unshare --pid and --mount need root: run this file as root");
  server = await startServer({ tickTime: 200 });
  terminals = await startTerminals();
});

afterAll(async () => {
  await terminals.stop();
  await server.stop();
});

const EMPTY_PROC = [
  "unshare",
  "--mount",
  "sh",
  "-c",
  'mount -t tmpfs none /proc && exec "$@"',
  "sh",
];

const rows = [
  { what: "another namespace's /proc", within: ["unshare", "--pid", "--fork"], isShort: true },
  { what: "its own /proc", within: ["unshare", "--pid", "--fork", "--mount-proc"], isShort: false },
  { what: "an empty /proc", within: EMPTY_PROC, isShort: true },
];

it.for(rows)(
  "$what: a command that is cut off is killed in time",
  async ({ within, isShort }, context) => {
    const scene = await Scene.at(context, server.address);
    const { proxy, server: through } = await scene.network();
    const { zksh, beat } = await scene.holding(SHORT, {
      server: through,
      through: within,
      words: ["stubborn"],
    });
    const rival = await scene.rival();
    proxy.blackhole();
    const { code, stderr } = await zksh.result;
    expect([code, beat.signals]).toEqual([120, ["SIGTERM"]]);
    expect(beat.lastAt).toBeLessThan(await rival.gotAt);
    expect(stderr.split(SHORT_REACH)).toHaveLength(isShort ? 2 : 1);
    expect(stderr).toMatch(/sent KILL to process \d+/);
  },
);

it.for(rows)(
  "$what: so is the command of a frozen zksh, with what it has started",
  async ({ within }, context) => {
    const scene = await Scene.at(context, server.address);
    const [child, grandchild] = [scene.beat(), scene.beat()];
    const quoted = grandchild.command("stubborn").map((word) => `'${word}'`);
    const script = [
      "sh",
      "-c",
      `${quoted.join(" ")} & "$@"; :`,
      "sh",
      ...child.command("stubborn"),
    ];
    const zksh = scene.start(["lock", ...SHORT, LOCK, "--", ...script], { through: within });
    await Promise.all([child.started(zksh), grandchild.started(zksh)]);
    const rival = await scene.rival();
    // Not unshare, which waits for it.
    const [frozen = Number.NaN] = scene
      .processes()
      .filter((pid) => pid !== zksh.pid || within === EMPTY_PROC);
    kill(frozen, "SIGSTOP");
    const gotAt = await rival.gotAt;
    expect(child.lastAt).toBeLessThan(gotAt);
    expect(grandchild.lastAt).toBeLessThan(gotAt);
    kill(frozen, "SIGCONT");
    expect(await zksh.result).toMatchObject({ code: 120 });
  },
);

test("an empty /proc on a terminal: the command gets a group of its own, and is killed in time", async (context) => {
  const scene = await Scene.at(context, server.address);
  const { proxy, server: through } = await scene.network();
  const beat = scene.beat();
  const zksh = [process.execPath, `${import.meta.dirname}/../../bin/zksh.js`, "-s", through];
  const command = [
    ...EMPTY_PROC,
    ...zksh,
    "lock",
    ...SHORT,
    LOCK,
    "--",
    ...beat.command("stubborn"),
  ];
  // The shell around it must live on to tell how it went.
  const terminal = await terminals.open({ command, columns: 200, before: "trap : INT" });
  await beat.started();
  await terminal.shows(SHORT_REACH);
  const rival = await scene.rival();
  // It has no controlling terminal any more, so the key reaches it through zksh.
  await terminal.press("C-c");
  await eventually(() => expect(beat.signals).toEqual(["SIGINT"]));
  proxy.blackhole();
  expect(await terminal.left()).toMatchObject({ code: 120 });
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});
