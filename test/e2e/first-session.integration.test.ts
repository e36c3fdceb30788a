import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openFor } from "../support/open-session.ts";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");
const directory = temporaryDirectory("first-session");
let server: ZooKeeperServer;
let terminals: Terminals;

beforeAll(async () => {
  // As `npm link` does it.
  symlinkSync(PROGRAM, join(directory, "zksh"));
  // Its own: quotas are no part of a chroot.
  [server, terminals] = await Promise.all([startServer(), startTerminals()]);
});

afterAll(async () => {
  await Promise.all([terminals.stop(), server.stop()]);
  removeDirectory(directory);
});

/** A login shell on a small screen, with zksh on its PATH. */
function openSitting(): Promise<Terminal> {
  const env = { PATH: `${directory}:${process.env.PATH}`, PS1: "$ " };
  return terminals.open({ command: ["sh", "-i"], env, columns: 80, rows: 24 });
}

/** One sitting of somebody who has read the README; nothing here but what it or `help` tells. */
test("ten everyday tasks in one sitting", async () => {
  const sitting = await openSitting();
  const says = async (line: string, answer: string) => {
    await sitting.enter(line);
    await sitting.shows(`${line}\n${answer}`);
    await sitting.endsWith(/[›$]/);
  };
  const another = openFor(server.address);

  // The first screen: two lines, neither broken, and the prompt.
  await sitting.endsWith("$");
  await sitting.enter(`cd ${directory}; export ZKSH_SERVER=${server.address}; clear; zksh`);
  const first = await sitting.shows(
    /connected to \S+ \([\d.]+, standalone\), session 0x\w+\nzksh \S+ \/ ›$/,
  );
  expect(first).toMatch(/^zksh [\d.]+: help lists the commands, TAB completes, Ctrl-D leaves$/m);

  // Browse.
  await says("ls /", "zookeeper/\n");
  await says("ls -R /zookeeper", "/zookeeper\n/zookeeper/config\n/zookeeper/quota\n");

  // Write, and read.
  await says(
    "create /app/config x",
    "error: cannot create /app/config: its parent /app does not exist (NoNode)\n  create -p creates missing parents too",
  );
  await says(`create -p /app/config '{"debug": false}'`, "Created /app/config\n");
  await says("get /app/config", '{\n  "debug": false\n}\n');
  await says(`set /app/config {"debug": true}`, "error: bad version 'true}'\n");
  expect(await sitting.screen()).toContain("data with spaces needs quotes\n");
  await says(`set /app/config '{"debug": true}'`, "Changed /app/config (version 1)\n");

  // Watch, while somebody else writes.
  await sitting.enter("watch /app/config");
  await sitting.shows('current /app/config (version 1): {"debug": true}');
  await another.setData("/app/config", Buffer.from("off"));
  await sitting.shows("changed /app/config (version 2): off");
  await sitting.press("C-c");
  await sitting.endsWith("/ ›");

  // Undo a typo: take the line back from the history, and mend it.
  await says(
    "get /app/confg",
    "error: no such znode: /app/confg (NoNode)\n  nearest existing parent: /app; did you mean",
  );
  await sitting.press("Up", "BSpace");
  await sitting.type("ig");
  await sitting.press("Enter");
  await sitting.shows("get /app/config\noff\n");
  await says("rm /app", "error: unknown command 'rm'\n  in zksh this is called delete\n");

  // A password, and an ACL that asks for it.
  await sitting.enter("addauth digest ann");
  await sitting.shows("? Password for ann");
  await sitting.enter("secret");
  await sitting.endsWith(/Authenticated \(digest\)\n.*›/);
  await says("setAcl /app/config auth::cdrwa", "Changed the ACL of /app/config (version 1)\n");
  await expect(another.getData("/app/config")).rejects.toThrow("NoAuth");

  // A quota.
  await says("setquota -n 3 /app", "Changed the quota of /app\n");
  await says("listquota /app", "znodes: 2 used, limit 3, hard limit none\n");

  // Delete a tree.
  await sitting.enter("deleteall /app");
  await sitting.shows("? Delete /app and the one znode below it (config)? (y/N)");
  await sitting.enter("y");
  await sitting.endsWith(/Deleted \/app and 1 below it\n.*›/);
  await says("exists /app", "/app does not exist\n");
  await sitting.press("C-d");
  await sitting.endsWith("$");

  // A script, from a file; it stops where it fails, and says where.
  await sitting.enter("printf 'create /job\\ncreate /job/a 1\\nls /job\\n' > setup.zk");
  await sitting.endsWith("> setup.zk\n$");
  await says("zksh -f setup.zk", "Created /job\nCreated /job/a\na\n");
  await says(
    "zksh -f setup.zk; echo $?",
    "setup.zk:1: error: znode already exists: /job (NodeExists)",
  );
  await sitting.shows(/\n5\n\$$/);

  // Pipes, in and out.
  await says(
    "echo hello | zksh set /job/a -; zksh get /job/a | tr a-z A-Z",
    "Changed /job/a (version 1)\nHELLO\n",
  );
  await says("zksh --json get /job/a | grep -o 'hello'", "hello\n");

  await sitting.enter("exit");
  const { code, before, after } = await sitting.left();
  expect([code, after]).toEqual([0, before]);
  await eventually(() => expect(sitting.screen()).resolves.toContain("[left with 0]"));
  expect(await sitting.screen()).not.toContain("secret");
});
