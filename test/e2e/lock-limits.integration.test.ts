/**
 * What the system refuses: a command that cannot be started or guarded ends with 126 and clear
 * words.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import type { ZkshResult } from "../support/zksh-process.ts";
import { LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
const root = join(import.meta.dirname, "../..");
const directory = temporaryDirectory("limits");
/** No other process is this user's. */
const USER = String(64_000 + (process.pid % 1_000));

beforeAll(() => {
  if (process.getuid?.() !== 0)
    throw new Error("namespaces and other users need root: run this file as root");
  chmodSync(directory, 0o755);
  for (const part of ["bin", "dist", "package.json"])
    cpSync(join(root, part), join(directory, part), { recursive: true });
});

afterAll(() => removeDirectory(directory));

/** The lowest limit of file descriptors with which this version of Node runs an empty program. */
function descriptorsOfNode(): number {
  const empty = join(directory, "empty.cjs");
  writeFileSync(empty, "");
  for (let limit = 10; limit < 100; limit++) {
    const words = [`--nofile=${limit}:${limit}`, process.execPath, empty];
    if (spawnSync("prlimit", words).status === 0) return limit;
  }
  throw new Error("node does not run with 100 file descriptors");
}

/** Runs it under each limit. */
async function sweep(
  limits: readonly number[],
  run: (limit: number) => Promise<ZkshResult>,
): Promise<ZkshResult[]> {
  const results: ZkshResult[] = [];
  for (const limit of limits) results.push(await run(limit));
  for (const { code, stderr } of results) expect([0, 126], stderr).toContain(code);
  return results.filter(({ code }) => code === 126);
}

it("too few file descriptors: 126", async (context) => {
  const scene = await Scene.at(context);
  const own = descriptorsOfNode();
  const more = [1, 3, 5, 6, 7, 8, 9, 11];
  const limits = more.map((count) => own + count);
  const refused = await sweep(limits, (limit) =>
    scene.run(["lock", LOCK, "--", "true"], { through: ["prlimit", `--nofile=${limit}:${limit}`] }),
  );
  expect(refused.length).toBeGreaterThan(0);
  for (const { stderr } of refused)
    expect(stderr).toMatch(/^error: cannot start (the watchdog|true): too many open files/);
});

it.for([{ group: "own" }, { group: "share" }])(
  "no file descriptor left while the command runs: it is still killed when its lock is lost ($group)",
  async ({ group }, context) => {
    const scene = await Scene.at(context);
    const { zksh, beat, pid } = await scene.holding(["--group", group], { words: ["stubborn"] });
    // Not even the spare one helps: its number is above the limit too.
    execFileSync("prlimit", ["--pid", String(zksh.pid), "--nofile=3:3"]);
    await scene.session.delete(await scene.queue(1));
    const { code, stderr } = await zksh.result;
    expect([code, beat.signals]).toEqual([120, []]);
    expect(stderr).toContain(`sent KILL to process ${pid}`);
    expect(scene.processes()).not.toContain(pid);
  },
);

it("a limit of processes that is too low ends with 126", async (context) => {
  const scene = await Scene.at(context);
  const asUser = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "--"];
  const program = join(directory, "bin/zksh.js");
  const env = { HOME: "/nonexistent" };
  const run = (limit: number) =>
    scene.run(["lock", LOCK, "--", "true"], {
      through: ["prlimit", `--nproc=${limit}:${limit}`, ...asUser],
      program,
      env,
      timeoutMs: 60_000,
    });
  // What node takes for itself, in threads, before it runs anything.
  const own = await threadsOf(scene);
  const refused = await sweep([own, own + 1], run);
  expect(refused.map(({ stderr }) => stderr)).toContainEqual(
    expect.stringMatching(/^error: cannot start (the watchdog|true): too many processes/),
  );
});

async function threadsOf(scene: Scene): Promise<number> {
  const { zksh, beat } = await scene.holding();
  const threads = readdirSync(`/proc/${zksh.pid}/task`).length;
  beat.end();
  await zksh.result;
  return threads;
}

it("no shell: 126, and it says what for", async (context) => {
  const scene = await Scene.at(context);
  const hide = 'mount --bind /dev/null "$(readlink -f /bin/sh)" && exec "$@"';
  const within = ["unshare", "--mount", "sh", "-c", hide, "sh"];
  const { code, stderr } = await scene.run(["lock", LOCK, "--", "/usr/bin/true"], {
    through: within,
  });
  expect([code, stderr]).toEqual([
    126,
    expect.stringContaining("/bin/sh is missing or not executable"),
  ]);
  expect(stderr).toContain("zksh starts commands through /bin/sh and /usr/bin/env");
});
