import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { lex } from "../../src/shell/parsing/lexer.ts";
import { eventually } from "../support/eventually.ts";
import { openFor } from "../support/open-session.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";

/** Znodes of other examples would be findings. */
const ALONE = "deleteall /[a-y]*; create /app; setAcl /app auth::cdrwa";

/** What stands before an example in its script, where /app as it is made below is not enough. */
const BEFORE: Readonly<Record<string, string>> = {
  "create -p /app/config '{\"debug\":false}'": "deleteall /app",
  "create /app/secret x auth::cdrwa": "delete /app/secret; addauth digest ann:secret",
  "set -v 3 /app/config off": "set /app/config 1; set /app/config 2; set /app/config 3",
  "delete -v 3 /app/old": "set /app/old 1; set /app/old 2; set /app/old 3",
  "txn 'create /app/new 1' 'set -v 3 /app/config on' 'delete /app/old'":
    "set /app/config 1; set /app/config 2; set /app/config 3",
  "txn 'check /app/config 3' 'create -s /app/job- x'":
    "set /app/config 1; set /app/config 2; set /app/config 3",
  "setAcl /app/config world:anyone:r,auth::cdrwa": "addauth digest ann:secret",
  "get /app/config /app/limits": "create /app/limits",
  "get --view gzip /app/state": "create /app/state @state.gz",
  "delete /app/old/a /app/old": "create /app/old/a",
  "deleteall /app/old /app/older": "create /app/older",
  "wait-for /app/config value ready -w 30s": "set /app/config ready",
  "removewatches /app": "addWatch /app",
  "removewatches /app/config -d": "get -w /app/config",
  doctor: ALONE,
  "doctor --max-znodes 1000000": ALONE,
  "doctor --test-write": ALONE,
  "listquota /app": "setquota -n 100 /app",
  "delquota /app": "setquota -n 100 /app",
  "delquota -b /app": "setquota -b 100 /app",
  "unlock /deploy": "lock /deploy",
  "whoholds /deploy": "create -p -e -s /deploy/lock-",
  "whoholds --explain /deploy": "create -p -e -s /deploy/lock-",
  "whoholds -R /": "create -p -e -s /deploy/lock-",
  "revoke /deploy": "create -p -e -s /deploy/lock-",
  "revoke --force /deploy": 'create -p -e -s /deploy/lock- \'{"v":1,"tool":"zksh"}\'',
  "redo 3": "pwd; pwd; pwd; pwd",
  "grep -i password /app": "set /app/config Password=x",
  "grep -F '10.0.0.7' /": "set /app/config host=10.0.0.7",
  "grep -l timeout /app": "set /app/config timeout=1",
  "grep -z error /app": "set /app/config error",
  "mv /app/config /app/settings": "create --if-missing /app/config",
  "mv /app/old /archive/": "create --if-missing /app/old; create /archive",
  "diff /app /app.old": "cp -r --on-conflict overwrite /app /app.old",
  "diff --names /app /backup/app":
    "create --if-missing /backup; cp -r --on-conflict overwrite /app /backup/app",
  "diff --acl /app file:app.jsonl": "export /app -o app.jsonl",
  "import app.jsonl /restored": "export /app -o app.jsonl",
  "import --on-conflict overwrite --prune app.jsonl": "export /app -o app.jsonl",
};

/** Examples that a script cannot run to a good end. */
type Reason =
  | "never ends"
  | "serves"
  | "says no"
  | "names a session"
  | "needs a terminal"
  | "needs an ensemble"
  | "needs a profile"
  | "needs something to undo"
  | "needs other servers";
const OTHERWISE: Readonly<Record<string, Reason>> = {
  "watch /app/config": "never ends",
  "watch -R /app": "never ends",
  "watch /app/config -- tee app.json": "never ends",
  "whoholds --watch /deploy": "never ends",
  top: "never ends",
  "top --every 1s": "never ends",
  "session 0x100006285b70000": "names a session",
  serve: "serves",
  "serve --port 0": "serves",
  "serve --port 2181 --host 0.0.0.0": "serves",
  "serve --sasl-users users": "serves",
  "elect --leader /scheduler": "says no",
  "fence check exclusive:0x1f:/deploy/_c_6b0e-lock-0000000003": "says no",
  "addauth digest ann": "needs a terminal",
  "edit /app/config": "needs a terminal",
  "edit --create /app/motd": "needs a terminal",
  "cp -r -p --exact /app zk://zk2:2181/app": "needs other servers",
  "diff -q /app zk://zk2:2181/app": "needs other servers",
  "reconfig -add 'server.4=zk4:2888:3888;2181'": "needs an ensemble",
  "reconfig -remove 3": "needs an ensemble",
  "cp -r @prod:/app file:app": "needs a profile",
  "connect @prod": "needs a profile",
  undo: "needs something to undo",
  "undo --yes": "needs something to undo",
  "reconfig -file members.cfg": "needs an ensemble",
};

const directory = temporaryDirectory("examples");
let server: ZooKeeperServer;

beforeAll(async () => {
  // Its own: quotas are no part of a chroot, and examples are written for the root.
  server = await startServer();
  writeFileSync(join(directory, "config.json"), '{"debug":true}');
  writeFileSync(
    join(directory, "release.zk"),
    "# a release\ncreate /app/new\nset /app/config on\n",
  );
  writeFileSync(join(directory, "state.gz"), gzipSync("state"));
  writeFileSync(join(directory, "users"), "ann:secret\n");
  writeFileSync(join(directory, "members.cfg"), "server.1=127.0.0.1:2888:3888;2181\n");
});

afterAll(async () => {
  await server.stop();
  removeDirectory(directory);
});

beforeEach(async () => {
  const clean = "delquota /app; deleteall /app";
  const prepare = "create /app; create /app/config {}; create /app/old; create /app/secret x";
  const { code, stderr } = await zksh(`${clean}\n${prepare}`, "--keep-going");
  // The first line fails where there is nothing to clean, the second must not.
  expect([0, 8]).toContain(code);
  expect(stderr).not.toContain("-c:2:");
});

function zksh(script: string, ...options: string[]) {
  const auth = ["--auth", "digest:ann:secret"];
  return runZksh(["-s", server.address, "--yes", ...auth, ...options, "-c", script], {
    cwd: directory,
  });
}

const examples = (
  await Promise.all(
    commands.map(async ({ load }) => (await load()).examples.map((example) => ({ example }))),
  )
).flat();

describe("the example", () => {
  test.each(examples.filter(({ example }) => !(example in OTHERWISE)))(
    "$example works",
    async ({ example }) => {
      const change = example.includes("--count")
        ? setSoon()
        : example.includes("--wait")
          ? giveWaySoon()
          : undefined;
      if (example.includes("--wait")) await change;
      const before = BEFORE[example];
      const { code, stderr } = await zksh(before === undefined ? example : `${before}\n${example}`);
      await change;
      // revoke --force warns of the old holder's command.
      expect([code, stderr.replace(/^(note: |warning: a command of ).*\n/gm, "")]).toEqual([0, ""]);
    },
  );

  test.each(named("never ends"))("%s goes on until Ctrl-C", async (example) => {
    const words = lex(example).statements[0]?.words.map(({ text }) => text) ?? [];
    const running = startZksh(["-s", server.address, ...words], { cwd: directory });
    await eventually(() => running.stdout !== "");
    running.kill("SIGINT");
    expect((await running.result).code).toBe(130);
  });

  test.each(named("serves"))("%s goes on until Ctrl-C, which is its end", async (example) => {
    // The port that it names may be somebody's.
    const running = startZksh([...example.split(" "), "--port", "0"], { cwd: directory });
    await eventually(() => running.stdout !== "");
    running.kill("SIGINT");
    const warning = example.includes("0.0.0.0")
      ? /^warning: every client that can reach 0\.0\.0\.0:\d+ .*\n$/
      : /^$/;
    expect(await running.result).toMatchObject({ code: 0, stderr: expect.stringMatching(warning) });
  });

  test.each(named("says no"))("%s says no", async (example) => {
    expect(await zksh(example)).toMatchObject({ code: 1, stderr: "" });
  });

  test.each(named("names a session"))(
    "%s names one that this server does not have",
    async (one) => {
      expect(await zksh(one)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("error: there is no session 0x100006285b70000"),
      });
    },
  );

  test.each(named("needs a terminal"))("%s asks where somebody can answer", async (example) => {
    expect(await zksh(example)).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(
        /--yes does not answer for ann's password|edit needs a terminal/,
      ),
    });
  });

  test.each(named("needs other servers"))("%s asks the servers that it names", async (example) => {
    expect(await zksh(example, "--connect-timeout", "1s")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("zk2"),
    });
  });

  test.each(named("needs an ensemble"))("%s reaches the server", async (example) => {
    const { code, stderr } = await zksh(example);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/reconfig/i)]);
  });

  test.each(named("needs a profile"))("%s misses the profile", async (example) => {
    const { code, stderr } = await zksh(example);
    expect([code, stderr]).toEqual([2, expect.stringContaining("unknown profile prod")]);
  });

  test.each(named("needs something to undo"))("%s finds nothing to undo", async (example) => {
    const { code, stderr } = await zksh(example);
    expect([code, stderr]).toEqual([1, expect.stringContaining("there is nothing to undo")]);
  });

  test("that is listed here is one", () => {
    const all = new Set(examples.map(({ example }) => example));
    expect(
      [...Object.keys(BEFORE), ...Object.keys(OTHERWISE)].filter((example) => !all.has(example)),
    ).toEqual([]);
  });
});

function named(reason: string): string[] {
  return Object.keys(OTHERWISE).filter((example) => OTHERWISE[example] === reason);
}

/** Somebody else changes what is watched, until the test has seen it. */
async function setSoon(): Promise<void> {
  const other = openFor(server.address);
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const changing = eventually(async () => {
    if (!isOver) await other.setData("/app/config", null);
    return isOver;
  });
  changing.catch(() => {});
}

/** Somebody else holds /deploy, and gives it up as soon as it is asked. Resolves when it holds. */
async function giveWaySoon(): Promise<void> {
  const other = openFor(server.address);
  await other.create("/deploy", null).catch(() => {});
  const node = await other.create("/deploy/lock-", null, { mode: "ephemeralSequential" });
  await other.getData(node, {
    watch: ({ type }) => type === "data-changed" && void other.delete(node),
  });
}
