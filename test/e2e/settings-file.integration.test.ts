import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { openFresh } from "../support/fresh-session.ts";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

let terminals: Terminals;
let home: string;
let session: Session;

beforeAll(async () => {
  terminals = await startTerminals();
  home = temporaryDirectory("settings-file");
});
beforeEach(async () => {
  session = await openFresh();
});
afterAll(async () => {
  await terminals.stop();
  removeDirectory(home);
});

function store(settings: object): void {
  const folder = join(home, ".config/zksh");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(settings), { mode: 0o600 });
}

async function openShell(profile: object = {}, others: object = {}): Promise<Terminal> {
  store({ profiles: { prod: { server: session.connectString, ...profile } }, ...others });
  const terminal = await terminals.open({ args: ["@prod"], home, columns: 160 });
  await terminal.shows(/connected to/, 20_000);
  return terminal;
}

test("the history of the settings file is off with false, and keeps its number of lines", async () => {
  const file = join(home, ".local/state/zksh/history");
  const off = await openShell({}, { history: false });
  await off.enter("ls /");
  await off.press("C-d");
  await off.left();
  expect(existsSync(file)).toBe(false);
  mkdirSync(join(home, ".local/state/zksh"), { recursive: true });
  writeFileSync(file, "get /one\nget /two\nget /three\n", { mode: 0o600 });
  const two = await openShell({}, { history: 2 });
  await two.enter("history");
  await two.shows("get /three", 10_000);
  expect(await two.screen()).not.toContain("get /one");
  await two.press("C-d");
  await two.left();
  expect(readFileSync(file, "utf8")).toBe("get /two\nget /three\nhistory\n");
}, 60_000);

test("the pager of the settings file is used, unless a variable names another", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `/n${index}`);
  for (const name of names) await session.create(name, Buffer.alloc(0));
  store({ pager: "tr a-z A-Z", profiles: { prod: { server: session.connectString } } });
  const list = (env: Record<string, string>) =>
    terminals.open({ args: ["@prod", "ls", "-R", "/"], rows: 20, home, env });
  await (await list({})).shows("/N49", 10_000);
  await (await list({ ZKSH_PAGER: "sed s/^/own-/" })).shows("own-/n49", 10_000);
}, 60_000);

describe("a profile with confirm", () => {
  test("wants the path typed before a tree is deleted", async () => {
    await session.create("/tree", Buffer.alloc(0));
    await session.create("/tree/a", Buffer.alloc(0));
    const terminal = await openShell({ confirm: true });
    await terminal.enter("deleteall /tree");
    await terminal.shows("Type /tree to go ahead:");
    await terminal.enter("y");
    await terminal.shows("type /tree, or nothing to leave it");
    await terminal.press("BSpace");
    await terminal.press("Enter");
    await terminal.shows("nothing was done");
    expect(await session.exists("/tree/a")).toBeDefined();
    await terminal.enter("deleteall /tree");
    await terminal.endsWith("Type /tree to go ahead:");
    await terminal.enter("/tree");
    await terminal.shows(/Deleted \/tree and 1 below it/, 10_000);
    expect(await session.exists("/tree")).toBeUndefined();
  }, 60_000);

  test("wants the glob typed before znodes that match it are deleted", async () => {
    await session.create("/globs", Buffer.alloc(0));
    await session.create("/globs/a", Buffer.alloc(0));
    await session.create("/globs/b", Buffer.alloc(0));
    const terminal = await openShell({ confirm: true });
    await terminal.enter("delete /globs/*");
    await terminal.endsWith(/Type \/globs\/\* to go ahead:/);
    await terminal.enter("/globs/*");
    await terminal.shows("Deleted /globs/b", 10_000);
    expect(await session.getChildren("/globs")).toEqual([]);
  }, 60_000);

  test("wants the place typed that mv takes a tree from", async () => {
    await session.create("/from", Buffer.from("x"));
    const server = session.connectString;
    const profiles = { prod: { server }, guarded: { server, confirm: true } };
    const terminal = await openShell({}, { profiles });
    await terminal.enter("mv @guarded:/from /to");
    await terminal.endsWith(/Type @guarded:\/from to go ahead:/, 10_000);
    await terminal.press("Enter");
    await terminal.shows("nothing was done", 10_000);
    expect(await session.exists("/to")).toBeUndefined();
    await terminal.enter("mv /from @guarded:/to");
    await terminal.shows(/This is not atomic.*\(y\/N\)/, 10_000);
  }, 60_000);
});
