/**
 * A command that becomes another user (sudo, su, setuid programs) cannot be signalled by zksh: it
 * says so, and holds the lock for as long as it can. Every such command here ignores SIGTERM. Needs
 * root, and a C compiler.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import type { ZkshProcess } from "../support/zksh-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { type Beat, kill, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
const SHORT = ["--session-timeout", "2s"];
const NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];
const root = join(import.meta.dirname, "../..");
const directory = temporaryDirectory("other-user");
const becomeRoot = join(directory, "become-root");
/** Where another user may read it. */
const program = join(directory, "bin/zksh.js");

let server: ZooKeeperServer;

beforeAll(async () => {
  if (process.getuid?.() !== 0)
    throw new Error("changing the user needs root: run this file as root");
  chmodSync(directory, 0o755);
  for (const part of ["bin", "dist", "package.json"])
    cpSync(join(root, part), join(directory, part), { recursive: true });
  execFileSync("cc", ["-o", becomeRoot, join(import.meta.dirname, "fixtures/become-root.c")]);
  chmodSync(becomeRoot, 0o4755);
  server = await startServer({ tickTime: 200 });
});

afterAll(async () => {
  await server.stop();
  removeDirectory(directory);
});

/** zksh as nobody, and a command under the lock. */
function start(
  scene: Scene,
  words: readonly string[],
  command: readonly string[],
  through = scene.server,
) {
  const env = { HOME: "/nonexistent" };
  return scene.start(["lock", ...words, LOCK, "--", ...command], {
    through: NOBODY,
    program,
    env,
    server: through,
  });
}

/** The command's process, once it is root's. */
async function rootProcess(beat: Beat, zksh: ZkshProcess): Promise<number> {
  const pid = await beat.started(zksh);
  expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^Uid:\t0\t0\t0\t0$/m);
  return pid;
}

it("lost: says that it could not be stopped, and exits 120 with its process named", async (context) => {
  const scene = await Scene.at(context, server.address);
  const { proxy, server: through } = await scene.network();
  const beat = scene.beat();
  const zksh = start(scene, SHORT, [becomeRoot, ...beat.command("stubborn")], through);
  const pid = await rootProcess(beat, zksh);
  proxy.blackhole();
  // The command has its stderr too, and goes on.
  await eventually(() => expect(scene.processes().includes(zksh.pid)).toBe(false));
  kill(pid, "SIGKILL");
  const { code, stderr } = await zksh.result;
  expect(code).toBe(120);
  expect(stderr).toContain(`could not send TERM to process ${pid}: not permitted`);
  expect(stderr).toContain(`could not send KILL to process ${pid}: not permitted`);
  expect(stderr).toContain(`error: lost ${LOCK}, but process ${pid} still runs`);
  expect(stderr).toContain("sudo zksh lock");
  expect(stderr).not.toMatch(/^sent /m);
  expect(beat.signals).toEqual([]);
});

it.for([
  { what: "the command", wrap: (command: readonly string[]) => command },
  {
    what: "what it has started",
    wrap: (command: readonly string[]) => ["sh", "-c", '"$@" & wait', "sh", ...command],
  },
  {
    what: "what it has left",
    wrap: (command: readonly string[]) => ["sh", "-c", '"$@" & exit 3', "sh", ...command],
  },
])("revoked: the lock is held until $what has ended", async ({ wrap }, context) => {
  const scene = await Scene.at(context, server.address);
  const beat = scene.beat();
  const zksh = start(scene, ["--grace", "300ms"], wrap([becomeRoot, ...beat.command("stubborn")]));
  const pid = await rootProcess(beat, zksh);
  const ticket = await scene.queue(1);
  const rival = await scene.rival();
  await scene.session.setData(ticket, Buffer.from("unlock"));
  await eventually(() =>
    expect(zksh.stderr).toContain(`could not send KILL to process ${pid}: not permitted`),
  );
  await beat.goesOn();
  expect(await scene.tickets()).toHaveLength(2);
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 121 });
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});
