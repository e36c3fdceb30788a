/** `edit` in a real terminal, with ed, nano, vi and editors that are scripts. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";

let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(() => terminals.stop());

const PROMPT = /zksh \S+ \/ ›/;
const CONFIG = '{"debug":false}';

interface Scene {
  readonly server: string;
  readonly session: Session;
  /** Where editors get their files. */
  readonly directory: string;
  open(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Terminal>;
  data(path: string): Promise<string>;
}

async function prepare(): Promise<Scene> {
  const server = await freshChroot();
  const session = openFor(server);
  await session.create("/port", Buffer.from("2181"));
  await session.create("/config", Buffer.from(CONFIG));
  const directory = join(temporaryDirectory("edit"), "tmp");
  mkdirSync(directory);
  return {
    server,
    session,
    directory,
    open: (env, ...args) =>
      terminals.open({
        args: ["-s", server, ...args],
        env: { TMPDIR: directory, ...env },
        columns: 160,
      }),
    data: async (path) => String((await session.getData(path)).data),
  };
}

/** An editor that is a shell script; $1 is the file. */
function script({ directory }: Scene, text: string): string {
  const path = join(directory, "..", `editor-${readdirSync(join(directory, "..")).length}`);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** The only file that an editor has left. */
function keptFile({ directory }: Scene): string {
  const [folder = ""] = readdirSync(directory);
  const [name = ""] = readdirSync(join(directory, folder)).filter((one) => !one.startsWith("."));
  return join(directory, folder, name);
}

test("ed changes a znode, and leaves nothing behind", async () => {
  const scene = await prepare();
  const terminal = await scene.open({ EDITOR: "ed" }, "edit", "/config");
  // ed tells how many bytes it has read and written, with the line end that it adds.
  await terminal.shows(/^16$/m);
  await terminal.enter("s/false/true/");
  await terminal.enter("w");
  await terminal.shows(/^15$/m);
  await terminal.enter("q");
  const { code, before, after } = await terminal.left();
  expect([code, after]).toEqual([0, before]);
  expect(await terminal.screen()).toContain("Changed /config (version 1)");
  expect(await scene.data("/config")).toBe('{"debug":true}');
  expect(readdirSync(scene.directory)).toEqual([]);
});

test("nano changes a znode, and its text is kept where another client was faster", async () => {
  const scene = await prepare();
  const terminal = await scene.open({ EDITOR: "nano" });
  const replace = async (text: string) => {
    await terminal.enter("edit /port");
    await terminal.shows(/port\.txt(.|\n)*\^X/);
    await terminal.press("C-k");
    await terminal.type(text);
    await terminal.shows(text);
  };
  const save = async () => {
    await terminal.press("C-o", "Enter");
    await terminal.shows("Wrote 1 line");
    await terminal.press("C-x");
  };
  await terminal.endsWith(PROMPT);
  await replace("2182");
  await save();
  await terminal.shows("Changed /port (version 1)");
  expect(await scene.data("/port")).toBe("2182");
  expect(readdirSync(scene.directory)).toEqual([]);
  await replace("2183");
  await scene.session.setData("/port", Buffer.from("9999"));
  await save();
  await terminal.shows(/-9999\n\+2183/);
  await terminal.endsWith(PROMPT);
  expect(readFileSync(keptFile(scene), "utf8")).toBe("2183");
  await terminal.enter(`set -v 2 /port @${keptFile(scene)}`);
  await terminal.shows("Changed /port (version 3)");
  await terminal.enter("quit");
  const { code, before, after } = await terminal.left();
  expect([code, after, await scene.data("/port")]).toEqual([0, before, "2183"]);
});

test("vi at the prompt changes a znode without adding a line end, and the prompt goes on", async () => {
  const scene = await prepare();
  const terminal = await scene.open({ EDITOR: "vi" });
  await terminal.endsWith(PROMPT);
  await terminal.enter("edit /port");
  await terminal.shows("port.txt");
  await terminal.enter(":s/2181/2182/");
  await terminal.shows("2182");
  await terminal.enter(":wq");
  await terminal.shows("Changed /port (version 1)");
  expect(await scene.data("/port")).toBe("2182");
  await terminal.enter("edit /port");
  await terminal.shows("port.txt");
  await terminal.enter(":wq");
  await terminal.shows("/port was not changed");
  await terminal.enter("edit /port | cat");
  await terminal.shows("error: edit needs a terminal");
  await terminal.enter("exists /port");
  await terminal.shows("/port exists");
  await terminal.enter("quit");
  const { code, before, after } = await terminal.left();
  expect([code, after]).toEqual([0, before]);
  expect(readdirSync(scene.directory)).toEqual([]);
});

test("vi gives control characters and other line ends back as they are", async () => {
  const scene = await prepare();
  const odd = "\u001b[31mred\r\n\ttab \u0007\u00a0\u202eü\n\n";
  await scene.session.setData("/port", Buffer.from(odd));
  const terminal = await scene.open({ EDITOR: "vi" }, "edit", "/port");
  await terminal.shows("port.txt");
  await terminal.enter(":wq");
  expect(await terminal.left()).toMatchObject({ code: 0 });
  expect(await terminal.screen()).toContain("/port was not changed");
});

test("a znode that was changed meanwhile is left alone: the difference, code 5, the text in a file", async () => {
  const scene = await prepare();
  const terminal = await scene.open({ EDITOR: "vi" }, "edit", "/config");
  await terminal.shows("config.json");
  await scene.session.setData("/config", Buffer.from('{"debug":null}'));
  await terminal.enter(":s/false/true/");
  await terminal.enter(":wq");
  expect(await terminal.left()).toMatchObject({ code: 5 });
  const screen = await terminal.screen();
  expect(screen).toMatch(/-\s+"debug": null\n\+\s+"debug": true/);
  const file = keptFile(scene);
  expect(screen.replaceAll("\n", "")).toContain(file);
  expect(readFileSync(file, "utf8")).toBe('{"debug":true}');
  expect([statSync(join(file, "..")).mode & 0o777, await scene.data("/config")]).toEqual([
    0o700,
    '{"debug":null}',
  ]);
});

test("the file for the editor is readable for its owner alone", async () => {
  const scene = await prepare();
  const EDITOR = script(scene, 'stat -c "%a %F" "$1" "$(dirname "$1")"');
  const terminal = await scene.open({ EDITOR }, "edit", "/config");
  expect(await terminal.left()).toMatchObject({ code: 0 });
  expect(await terminal.screen()).toMatch(/600 regular file\n700 directory/);
});

test("JSON that no longer parses is stored only after a yes", async () => {
  const scene = await prepare();
  const EDITOR = script(scene, 'printf "{" > "$1"');
  const terminal = await scene.open({ EDITOR });
  await terminal.endsWith(PROMPT);
  await terminal.enter("edit /config");
  await terminal.shows(/no longer valid JSON .*Store it anyway\?/);
  await terminal.enter("n");
  await terminal.shows("nothing was changed");
  expect(await scene.data("/config")).toBe(CONFIG);
  expect(readFileSync(keptFile(scene), "utf8")).toBe("{");
  await terminal.enter("edit /config");
  await terminal.endsWith(/Store it anyway\? \(y\/N\)/);
  await terminal.enter("y");
  await terminal.shows("Changed /config (version 1)");
  expect(await scene.data("/config")).toBe("{");
});

test("an editor that is killed loses no text", async () => {
  const scene = await prepare();
  const EDITOR = script(scene, 'echo 2182 > "$1"; kill -KILL $$');
  const terminal = await scene.open({ EDITOR }, "edit", "/port");
  expect(await terminal.left()).toMatchObject({ code: 1 });
  const screen = (await terminal.screen()).replaceAll("\n", "");
  expect(screen).toContain(`note: your text is in ${keptFile(scene)}`);
  expect(screen).toContain("nothing was changed: the editor");
  expect(await scene.data("/port")).toBe("2181");
});

test("a text that is too large for the servers is kept", async () => {
  const scene = await prepare();
  const EDITOR = script(scene, 'head -c 1200000 /dev/zero | tr "\\0" x > "$1"');
  const terminal = await scene.open({ EDITOR }, "edit", "/port");
  expect(await terminal.left()).toMatchObject({ code: 2 });
  const screen = (await terminal.screen()).replaceAll("\n", "");
  expect(screen).toMatch(/the request for \/port has \d+ bytes, but servers accept only/);
  expect(screen).toContain(`note: your text is in ${keptFile(scene)}`);
  expect(statSync(keptFile(scene)).size).toBe(1_200_000);
});

test("SIGTERM ends the editor and zksh, and the text is kept", async () => {
  const scene = await prepare();
  const EDITOR = script(scene, 'echo 2182 > "$1"; echo open; exec sleep 60');
  const terminal = await scene.open({ EDITOR }, "edit", "/port");
  await terminal.shows(/^open$/m);
  process.kill(terminal.pid, "SIGTERM");
  expect(await terminal.left()).toMatchObject({ code: 143 });
  expect(readFileSync(keptFile(scene), "utf8")).toBe("2182");
  expect(await scene.data("/port")).toBe("2181");
});

test("the session lives on while the editor is open for longer than its timeout", async () => {
  const scene = await prepare();
  const EDITOR = script(scene, 'sleep 6; echo 2182 > "$1"');
  const terminal = await scene.open({ EDITOR }, "-t", "4s");
  await terminal.endsWith(PROMPT);
  await terminal.enter("create -e /mine");
  await terminal.shows("Created /mine");
  const owner = (await scene.session.exists("/mine"))?.ephemeralOwner;
  await terminal.enter("edit /port");
  await terminal.shows("Changed /port (version 1)");
  expect((await scene.session.exists("/mine"))?.ephemeralOwner).toBe(owner);
});

test("a session that expired meanwhile is replaced, and the text is stored", async () => {
  const scene = await prepare();
  const proxy = await startFaultProxy(Number(sharedServer().split(":")[1]));
  onTestFinished(() => proxy.close());
  const flag = join(scene.directory, "..", "go-on");
  const wait = `while [ ! -e ${flag} ]; do sleep 0.1; done`;
  const EDITOR = script(scene, `echo open; ${wait}; echo 2182 > "$1"`);
  const server = scene.server.replace(sharedServer(), proxy.address);
  const terminal = await terminals.open({
    args: ["-s", server, "-t", "4s"],
    env: { TMPDIR: scene.directory, EDITOR },
  });
  await terminal.endsWith(PROMPT);
  await terminal.enter("create -e /mine");
  await terminal.shows("Created /mine");
  await terminal.enter("edit /port");
  await terminal.shows(/^open$/m);
  await proxy.refuse();
  await eventually(async () => expect(await scene.session.exists("/mine")).toBeUndefined(), {
    timeoutMs: 20_000,
  });
  await proxy.listen();
  writeFileSync(flag, "");
  await terminal.shows("Changed /port (version 1)");
  expect(await scene.data("/port")).toBe("2182");
});
