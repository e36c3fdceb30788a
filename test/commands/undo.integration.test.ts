import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openFresh } from "../support/fresh-session.ts";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";

let terminals: Terminals;
beforeAll(async () => {
  terminals = await startTerminals();
});
afterAll(() => terminals.stop());

async function open(server: string): Promise<Terminal> {
  const terminal = await terminals.open({ args: ["-s", server], columns: 120 });
  await terminal.shows(/connected to/);
  return terminal;
}

describe("undo", () => {
  test("brings back data and ACLs of 10,000 znodes, and says before what it cannot", async () => {
    const session = await openFresh();
    const acl = [{ perms: 31, scheme: "digest", id: "ann:0123456789012345678901234567=" }];
    const open2 = [{ perms: 31, scheme: "world", id: "anyone" }];
    await session.create("/tree", Buffer.from("root"));
    const paths = Array.from({ length: 10_000 }, (_, index) => `/tree/n${index}`);
    await Promise.all(
      paths.map((path, index) => session.create(path, Buffer.from(`data ${index}`))),
    );
    await session.create("/tree/e", Buffer.from("mine"), { mode: "ephemeral" });
    await session.setAcl("/tree/n77", [...acl, ...open2]);
    const terminal = await open(session.connectString);
    await terminal.enter("deleteall --yes /tree");
    await terminal.shows(
      /undo can bring back 10,001 znodes \(.*\), but not versions and times, nor 1 ephemeral/,
      60_000,
    );
    await terminal.shows(/Deleted \/tree and 10001 below it/, 60_000);
    expect(await session.exists("/tree")).toBeUndefined();
    const folder = join(terminal.home, ".local/state/zksh/undo");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    await terminal.enter("undo");
    await terminal.shows(/Bring back \/tree \(10,001 znodes\), as before deleteall \/tree at .*\?/);
    await terminal.enter("y");
    await terminal.shows(/10,?001 znodes created/, 60_000);
    const data = await Promise.all(paths.map((path) => session.getData(path)));
    expect(data.every(({ data: bytes }, index) => bytes?.toString() === `data ${index}`)).toBe(
      true,
    );
    expect((await session.getAcl("/tree/n77")).acl).toEqual([...acl, ...open2]);
    expect((await session.getData("/tree")).data?.toString()).toBe("root");
    expect(readdirSync(folder)).toEqual([]);
    await terminal.enter("undo");
    await terminal.shows(/there is nothing to undo/);
  }, 180_000);

  test("refuses where a znode was made since, and --on-conflict decides", async () => {
    const session = await openFresh();
    await session.create("/c", Buffer.from("old"));
    const terminal = await open(session.connectString);
    await terminal.enter("deleteall --yes /c");
    await terminal.shows(/undo can bring back 1 znode /);
    await terminal.shows(/Deleted|deleted/);
    await session.create("/c", Buffer.from("new"));
    await terminal.enter("undo --yes");
    await terminal.shows(/\/c was created since/);
    expect((await session.getData("/c")).data?.toString()).toBe("new");
    await terminal.enter("undo --yes --on-conflict overwrite");
    await terminal.shows(/1 overwritten/);
    expect((await session.getData("/c")).data?.toString()).toBe("old");
  }, 60_000);

  test("of mv brings the tree back and deletes it at the new place", async () => {
    const session = await openFresh();
    await session.create("/from", Buffer.from("x"));
    await session.create("/from/a", Buffer.from("y"));
    const terminal = await open(session.connectString);
    await terminal.enter("mv /from /to");
    await terminal.shows(/undo can bring back 2 znodes/);
    await terminal.shows(/[Mm]oved/);
    await terminal.enter("undo --yes");
    await terminal.shows(/2 znodes created/);
    await expect.poll(() => session.exists("/to")).toBeUndefined();
    expect((await session.getData("/from/a")).data?.toString()).toBe("y");
  }, 60_000);
});
