/** What users do by mistake, or with half the rights: nothing may be lost or left behind. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { kill, LOCK, Scene } from "./lock-scene.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");

/** A command line for `sh -c` that runs zksh once more. */
function again(server: string, ...words: string[]): string {
  return [process.execPath, PROGRAM, "-s", server, ...words].join(" ");
}

describe("a lock inside a lock", () => {
  it.for([
    {
      outer: ["rwlock", "read"],
      inner: ["rwlock", "write"],
      text: "held as read, and cannot be changed to write",
    },
    { outer: ["sem", "-N", "3"], inner: ["sem", "-N", "3", "-k", "2"], text: "held as semaphore" },
  ])(
    "$outer cannot become $inner, whatever is asked for",
    async ({ outer, inner, text }, context) => {
      const scene = await Scene.at(context);
      const inside = again(scene.server, ...inner, "--reentrant", LOCK, "--", "echo", "never");
      const { stdout, stderr, code } = await scene.run([...outer, LOCK, "--", "sh", "-c", inside]);
      expect([String(stdout), code]).toEqual(["", 125]);
      expect(stderr).toContain(text);
    },
  );

  it("is found below another chroot, and not where only the path is the same", async (context) => {
    const scene = await Scene.at(context);
    await scene.session.create("/sub", null);
    const below = `${scene.server}/sub`;
    const same = again(scene.server, "lock", "-n", `/sub${LOCK}`, "--", "echo", "never");
    const other = again(scene.server, "lock", "-n", LOCK, "--", "echo", "elsewhere");
    const ran = await scene.run(["lock", LOCK, "--", "sh", "-c", `${same}; echo $?; ${other}`], {
      server: below,
    });
    expect(String(ran.stdout)).toBe("125\nelsewhere\n");
  });

  it("is allowed after the outer one has ended: a process that it left behind may take the lock", async (context) => {
    const scene = await Scene.at(context);
    const held = await scene.run(["lock", LOCK, "--", "sh", "-c", 'printf %s "$ZK_LOCK_HELD"']);
    const env = { ZK_LOCK_HELD: String(held.stdout) };
    const ran = await scene.run(["lock", "-n", LOCK, "--", "echo", "mine"], { env });
    expect([String(ran.stdout), ran.code]).toEqual(["mine\n", 0]);
    expect(env.ZK_LOCK_HELD.split("\t")).toHaveLength(5);
  });

  it("is refused in a script that holds it, and so is more than it holds", async (context) => {
    const scene = await Scene.at(context);
    const inner = await scene.run(["-c", `lock ${LOCK}; lock ${LOCK} -- echo never`]);
    expect([String(inner.stdout), inner.code]).toEqual(["", 125]);
    expect(inner.stderr).toContain(`this shell already holds ${LOCK}`);
    const upgrade = await scene.run(["-c", `rwlock read ${LOCK}; rwlock write ${LOCK}`]);
    expect([upgrade.code, upgrade.stderr]).toEqual([
      125,
      expect.stringContaining("as read, which cannot be changed to write"),
    ]);
  });
});

describe("--status-file", () => {
  it("is refused before anything is run where it cannot be written", async (context) => {
    const scene = await Scene.at(context);
    const directory = scene.file();
    mkdirSync(directory);
    for (const file of [join(directory, "no", "file"), directory]) {
      const ran = await scene.run(["lock", "--status-file", file, LOCK, "--", "echo", "never"]);
      expect([String(ran.stdout), ran.code]).toEqual(["", 125]);
      expect(ran.stderr).toContain("cannot write the status file");
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  it("replaces a link, keeps a file private, and writes into a pipe that stays one", async (context) => {
    const scene = await Scene.at(context);
    const [real, link, pipe] = [scene.file(), scene.file(), scene.file()];
    writeFileSync(real, "old");
    symlinkSync(real, link);
    expect(
      await scene.run(["lock", "--status-file", link, LOCK, "--", "sh", "-c", "exit 3"]),
    ).toMatchObject({
      code: 3,
    });
    expect([readFileSync(real, "utf8"), lstatSync(link).isSymbolicLink()]).toEqual(["old", false]);
    expect(JSON.parse(readFileSync(link, "utf8"))).toMatchObject({ outcome: "child", code: 3 });
    chmodSync(real, 0o600);
    expect(await scene.run(["lock", "--status-file", real, LOCK, "--", "true"])).toMatchObject({
      code: 0,
    });
    expect(statSync(real).mode & 0o777).toBe(0o600);
    execFileSync("mkfifo", [pipe]);
    // Nobody reads from it: said, and the command's code stands.
    const ran = await scene.run(["lock", "--status-file", pipe, LOCK, "--", "sh", "-c", "exit 3"]);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(`could not write ${pipe}`)]);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });
});

it("without DELETE permission the exit code is the command's, and the ticket is deleted with the session", async (context) => {
  const scene = await Scene.at(context);
  await scene.session.create(LOCK, null, { acl: [{ perms: 5, scheme: "world", id: "anyone" }] });
  expect(await scene.run(["lock", LOCK, "--", "sh", "-c", "exit 3"])).toMatchObject({ code: 3 });
  expect(await scene.tickets()).toEqual([]);
});

it.for([
  { signal: "SIGQUIT", code: 131 },
  { signal: "SIGUSR1", code: 138 },
  { signal: "SIGUSR2", code: 140 },
] as const)("$signal while it waits: no ticket is left", async ({ signal, code }, context) => {
  const scene = await Scene.at(context);
  const held = await new Mutex(scene.session, LOCK).acquire();
  const zksh = scene.start(["lock", LOCK, "--", "echo", "never"]);
  await scene.queue(2);
  kill(zksh.pid, signal);
  expect(await zksh.result).toMatchObject({ code });
  expect(await scene.tickets()).toHaveLength(1);
  await held.release();
});

it("elect --rejoin outlives an outage that was longer than its session", async (context) => {
  const scene = await Scene.at(context);
  const { proxy, server } = await scene.network();
  const [first, second] = [scene.beat(), scene.beat()];
  const script = `if [ -e ${first.file} ]; then exec ${second.command().join(" ")}; else exec ${first.command().join(" ")}; fi`;
  const words = ["elect", "--rejoin", "--session-timeout", "4s", LOCK, "--", "sh", "-c", script];
  const zksh = scene.start(["--connect-timeout", "1s", ...words], { server });
  await first.started(zksh);
  await proxy.refuse();
  await scene.queue(0);
  await proxy.listen();
  proxy.heal();
  await second.started(zksh);
  second.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
});
