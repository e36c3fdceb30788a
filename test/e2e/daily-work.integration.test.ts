/** Ten tasks of operators, each typed as the README and `help` show it. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hexId } from "../../src/text/hex-id.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");
const directory = temporaryDirectory("daily-work");
let terminals: Terminals;

beforeAll(async () => {
  symlinkSync(PROGRAM, join(directory, "zksh"));
  terminals = await startTerminals();
});

afterAll(async () => {
  await terminals.stop();
  removeDirectory(directory);
});

test("ten tasks of daily work in one sitting", async () => {
  const server = await freshChroot();
  const another = openFor(server);
  const config = (host: string) => `{"db":{"host":"${host}","port":5432},"debug":true}`;
  for (const [path, data] of Object.entries({
    "/staging": "",
    "/staging/config": config("10.0.0.7"),
    "/staging/features": "a",
    "/live": "",
    "/live/config": config("10.0.0.9"),
    "/live/features": "b",
    "/live/cache": "x".repeat(5_000),
  }))
    await another.create(path, Buffer.from(data));
  await another.create("/live/worker", null, { mode: "ephemeral" });

  const env = { PATH: `${directory}:${process.env.PATH}`, ZKSH_SERVER: server, EDITOR: "vi" };
  const sitting = await terminals.open({
    command: ["sh", "-i"],
    env: { ...env, PS1: "$ " },
    columns: 120,
  });
  const says = async (line: string, ...answers: (string | RegExp)[]) => {
    await sitting.enter(`clear; ${line}`);
    for (const answer of answers) await sitting.shows(answer);
    await sitting.endsWith("$");
  };
  await sitting.endsWith("$");
  await sitting.enter(`cd ${directory}`);

  // The znode that contains a string.
  await says("zksh grep 10.0.0.7", '/staging/config:1:{"db":{"host":"10.0.0.7"');
  // The ten largest.
  await says("zksh du --top 10 /", /largest znodes\n +4\.9 KB +\/live\/cache\n/);
  // What was changed in the last hour.
  await says("zksh find / --newer 1h --name 'conf*'", "/live/config\n/staging/config\n$");
  // The owner of an ephemeral.
  const owner = hexId(another.id);
  await says("zksh stat /live/worker", `ephemeralOwner = ${owner}`);
  await says(`zksh session ${owner}`, /client +127\.0\.0\.1:\d+, connected/, "\n  /live/worker\n");
  // Two environments.
  await says("zksh diff /staging /live", /-\s+"host": "10\.0\.0\.7",\n\+\s+"host": "10\.0\.0\.9"/);
  // A copy.
  await says("zksh cp -r /staging /test", "/test: 3 znodes created");
  // A backup, and the way back.
  await says("zksh export /live -o live.jsonl", "Exported 4 znodes of /live to live.jsonl");
  await sitting.enter("clear; zksh deleteall /live");
  await sitting.endsWith("(y/N)");
  await sitting.enter("y");
  await sitting.endsWith(/Deleted \/live and 4 below it\n\$/);
  await says("zksh import live.jsonl", "/live: 4 znodes created");
  await says("zksh diff /live file:live.jsonl; echo code $?", "\ncode 0");
  // One value in JSON.
  await sitting.enter("clear; zksh edit /staging/config");
  await sitting.shows("config.json");
  await sitting.enter(":%s/5432/5433/");
  await sitting.enter(":wq");
  await sitting.endsWith(/Changed \/staging\/config \(version 1\)\n\$/);
  // Three writes as one.
  const lines = "'create /test/new 1' 'set -v 0 /test/features on' 'delete /test/config'";
  await says(`zksh txn ${lines}`, "/test/config");
  expect((await another.getChildren("/test")).toSorted()).toEqual(["features", "new"]);
  // A flag of a deployment.
  await sitting.enter("clear; zksh wait-for /test/ready exists -w 60s; echo code $?");
  await another.create("/test/ready", null);
  await sitting.shows("\ncode 0");
  await sitting.enter("exit");
  expect(await sitting.left()).toMatchObject({ code: 0 });
});
