/**
 * A lock without a command is held until stdin ends: a stdin that has ended already would lock
 * nothing, with exit code 0.
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COPROCESS } from "../../src/commands/topics/lock-topic.ts";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTracked } from "../support/tracked-process.ts";
import { LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
const ZKSH = `${process.execPath} ${join(import.meta.dirname, "../../bin/zksh.js")}`;

it.for([
  { words: ["lock", LOCK], use: `zksh lock ${LOCK} -- COMMAND` },
  { words: ["lock", "-n", "/m/a", "/m/b"], use: "zksh lock /m/a /m/b -- COMMAND" },
  { words: ["rwlock", "read", LOCK], use: `zksh rwlock read ${LOCK} -- COMMAND` },
  { words: ["sem", "--limit", "2", LOCK], use: `zksh sem --limit N ${LOCK} -- COMMAND` },
  { words: ["elect", LOCK], use: `zksh elect ${LOCK} -- COMMAND` },
])("$words.0, stdin is /dev/null: 125, and nothing is queued", async ({ words, use }, context) => {
  const scene = await Scene.at(context);
  const { code, stdout, stderr } = await scene.start(words, { stdin: "ignore" }).result;
  expect([code, String(stdout)]).toEqual([125, ""]);
  expect(stderr).toContain(
    `error: no command given, and stdin is already at its end: use ${use}\n`,
  );
  // Not even the path was made.
  expect(await scene.session.getChildren("/")).toEqual([]);
});

it("a stdin that has ended is refused without a server", async (context) => {
  const scene = await Scene.at(context);
  const ran = await scene.start(["lock", LOCK], { stdin: "ignore", server: "127.0.0.1:1" }).result;
  expect(ran).toMatchObject({ code: 125, stderr: expect.stringContaining("already at its end") });
});

// A here-document is a pipe that has been written and closed before the program starts.
it.for([
  { how: "closed", script: "exec zksh lock /l <&-" },
  { how: "an empty file", script: ": >empty; exec zksh lock /l <empty" },
  { how: "a pipe whose writer has gone", script: "exec zksh lock /l <<END\nEND\n" },
  { how: "a pipe whose writer has written and gone", script: "exec zksh lock /l <<END\nx\nEND\n" },
])("stdin is $how: 125", async ({ script }, context) => {
  const scene = await Scene.at(context);
  const ran = await shell(scene, script);
  expect(ran).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("stdin is already at its end: use"),
  });
});

it("stdin is a file with lines for something else: 125, and the file is named as the reason", async (context) => {
  const scene = await Scene.at(context);
  const ran = await shell(
    scene,
    "printf 'a\\nb\\n' >hosts; while read h; do zksh lock /l || exit; done <hosts",
  );
  expect(ran).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("stdin is a file, which ends at once: use"),
  });
});

it("stdin that ends during the wait: 125, because the lock would be held for no command", async (context) => {
  const scene = await Scene.at(context);
  const holder = scene.start(["lock", LOCK]);
  await eventually(() => expect(holder.stdout).toContain("ZK_LOCK_HELD"));
  const waiter = scene.start(["lock", LOCK]);
  await scene.queue(2);
  waiter.endInput();
  holder.endInput();
  expect(await holder.result).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await waiter.result;
  expect([code, String(stdout)]).toEqual([125, ""]);
  expect(stderr).toContain(`stdin ended before ${LOCK} was held`);
});

it("an open pipe without a word in it holds", async (context) => {
  const scene = await Scene.at(context);
  const zksh = scene.start(["lock", LOCK]);
  await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
  zksh.write("bytes that nobody needs\n");
  zksh.endInput();
  expect(await zksh.result).toMatchObject({ code: 0 });
});

it("an open pipe with bytes in it holds", async (context) => {
  const scene = await Scene.at(context);
  const zksh = scene.start(["lock", LOCK]);
  zksh.write(Buffer.alloc(300_000, "x"));
  await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
  zksh.endInput();
  expect(await zksh.result).toMatchObject({ code: 0 });
});

it.for([
  { program: "bash", mark: "coproc" },
  { program: "sh", mark: "mkfifo" },
])(
  "README: $mark in $program holds the lock for a part of the script",
  async ({ program, mark }, context) => {
    const scene = await Scene.at(context);
    const script = readmeBlock(mark);
    expect(await run(scene, program, script)).toMatchObject({
      code: 0,
      stdout: "deployed with 1 ticket\n",
    });
    expect(await scene.session.getChildren("/deploy")).toEqual([]);
    const held = await new Mutex(scene.session, "/deploy").acquire();
    const busy = await run(scene, program, script.replace("zksh lock", "zksh lock -n"));
    expect([busy.code, busy.stdout]).toEqual([75, ""]);
    await held.release();
  },
);

it("README: the first line puts the whole script under the lock", async (context) => {
  const scene = await Scene.at(context);
  const line = readmeBlock("exec zksh lock /deploy -- ");
  const script = `cat >script <<'END'\n#!/bin/sh\n${line}./deploy.sh "$1"\nEND\nchmod +x script; ./script`;
  expect(await shell(scene, script)).toEqual({
    code: 0,
    stdout: "deployed with 1 ticket\n",
    stderr: "",
  });
});

test("help locks shows the coprocess of the README", () => {
  const lines = readmeBlock("coproc").split("\n").slice(0, -1);
  expect(lines.map((line) => line.replace(/ +# .*/, ""))).toEqual(
    COPROCESS.map(({ term }) => term),
  );
});

/** The code block of README.md that has these words in it. */
function readmeBlock(words: string): string {
  const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```(?:ba)?sh\n(.*?)^```$/gms)].map(
    ([, block = ""]) => block,
  );
  const found = blocks.filter((block) => block.includes(words));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

async function shell(
  scene: Scene,
  script: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return run(scene, "sh", script);
}

/**
 * Runs a script in a directory of its own, where `zksh` is the built program on the scene's server.
 */
async function run(scene: Scene, program: string, script: string) {
  const directory = scene.file();
  execFileSync("mkdir", [directory]);
  writeFileSync(join(directory, "zksh"), `#!/bin/sh\nexec ${ZKSH} "$@"\n`, { mode: 0o755 });
  const deploy = '#!/bin/sh\necho "deployed with $(zksh ls /deploy | wc -l) ticket"\n';
  writeFileSync(join(directory, "deploy.sh"), deploy, { mode: 0o755 });
  const [out, err] = [join(directory, "out"), join(directory, "err")];
  const descriptors = [openSync(out, "w"), openSync(err, "w")] as const;
  const child = spawnTracked(program, ["-c", script], {
    cwd: directory,
    detached: true,
    stdio: ["ignore", ...descriptors],
    env: { PATH: `${directory}:${process.env.PATH}`, HOME: directory, ZKSH_SERVER: scene.server },
  });
  for (const descriptor of descriptors) closeSync(descriptor);
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  const text = (file: string) => execFileSync("cat", [file], { encoding: "utf8" });
  return { code, stdout: text(out), stderr: text(err) };
}
