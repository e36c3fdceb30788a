import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ChangesUnder } from "../../src/recipes/trees/changed-under.ts";
import { TreeExport } from "../../src/recipes/trees/export-tree.ts";
import { rereadChanges } from "../../src/recipes/trees/reread-changes.ts";
import type { Session } from "../../src/session/session.ts";
import { sleep } from "../support/eventually.ts";
import { openFresh } from "../support/fresh-session.ts";
import { zksh } from "../support/random-trees.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";

const signal = new AbortController().signal;
const directory = temporaryDirectory("consistent");

/** Number N is in the first and the last znode, and in the name of the only child of /t/m. */
async function writeNumber(session: Session, number: number): Promise<void> {
  const data = Buffer.from(String(number));
  await session.multi([
    { op: "setData", path: "/t/a", data },
    { op: "setData", path: "/t/z", data },
    { op: "create", path: `/t/m/${number}`, data },
    { op: "delete", path: `/t/m/${number - 1}` },
  ]);
}

async function plant(session: Session, znodes: number): Promise<void> {
  for (const path of ["/t", "/t/a", "/t/m", "/t/m/0", "/t/n", "/t/z"])
    await session.create(path, Buffer.from("0"));
  const paths = Array.from({ length: znodes }, (_, i) => `/t/n/${String(i).padStart(6, "0")}`);
  for (let at = 0; at < znodes; at += 1_000)
    await session.multi(
      paths.slice(at, at + 1_000).map((path) => ({ op: "create", path, data: null }) as const),
    );
}

interface Line {
  readonly path: string;
  readonly data: string;
  readonly nextSequence?: number;
}

function linesOf(text: string): Line[] {
  return text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));
}

test("--consistent writes the tree of one moment while another client writes", async () => {
  const session = await openFresh();
  await plant(session, 20_000);
  const file = join(directory, "busy.jsonl");
  let number = 0;
  let isDone = false;
  const writes = (async () => {
    while (!isDone) {
      await writeNumber(session, ++number);
      await sleep(100);
    }
  })();
  const { connectString } = session;
  const { code, stderr } = await zksh(connectString, "export", "--consistent", "/t", "-o", file);
  isDone = true;
  await writes;
  expect([code, stderr]).toEqual([0, ""]);
  const lines = linesOf(await readFile(file, "utf8"));
  const of = new Map(lines.map((line) => [line.path, line]));
  const found = of.get("/t/a")?.data;
  expect(Number(found)).toBeGreaterThan(0);
  expect(of.get("/t/z")?.data).toBe(found);
  expect([...of.keys()].filter((path) => path.startsWith("/t/m/"))).toEqual([`/t/m/${found}`]);
  expect(of.get("/t/m")?.nextSequence).toBe(Number(found) + 1);
  // Sorted, as diff and import read it.
  expect((await zksh(connectString, "diff", "--names", `file:${file}`, `file:${file}`)).code).toBe(
    0,
  );
  expect(lines).toHaveLength(20_006);
});

/** An export whose writer writes before each of the first `busy` passes that read again. */
async function reread(session: Session, busy: number) {
  const changes = await ChangesUnder.begin(session, "/t", signal);
  onTestFinished(() => changes.end());
  const options = { signal, withAcls: true, withEphemerals: false };
  const tree = new TreeExport(session, "/t", {
    ...options,
    onFailure(path, error) {
      throw new Error(path, { cause: error });
    },
  });
  for await (const _ of tree.lines(changes));
  let passes = 0;
  await writeNumber(session, 1);
  const linesOf = async (paths: readonly string[]) => {
    const lines = await tree.linesOf(paths);
    if (++passes <= busy) await writeNumber(session, passes + 1);
    return lines;
  };
  return rereadChanges({ linesOf }, changes, signal);
}

test("znodes are read again until a pass ends without a change", async () => {
  const session = await openFresh();
  await plant(session, 10);
  const { lines, passes, unsettled } = await reread(session, 3);
  expect([passes, unsettled]).toEqual([4, []]);
  expect([...lines.keys()].sort()).toEqual([
    "/t/a",
    "/t/m",
    ...["0", "1", "2", "3", "4"].map((name) => `/t/m/${name}`),
    "/t/z",
  ]);
  expect(lines.get("/t/m/3")).toBeUndefined();
  expect(JSON.parse(lines.get("/t/z") ?? "")).toMatchObject({ data: "4" });
});

test("after ten passes the znodes that still change are named", async () => {
  const session = await openFresh();
  await plant(session, 10);
  const { passes, unsettled } = await reread(session, Number.POSITIVE_INFINITY);
  expect([passes, unsettled]).toEqual([10, ["/t/a", "/t/m", "/t/m/10", "/t/m/11", "/t/z"]]);
});

test("an export that never agrees is written, named and ends with 8", async () => {
  const session = await openFresh();
  await plant(session, 200);
  const file = join(directory, "never.jsonl");
  let isDone = false;
  // Many under way: the server has writes to do even while a busy machine lets this process wait.
  const writes = (async () => {
    const underWay: Promise<void>[] = [];
    for (let number = 1; !isDone; number++) {
      underWay.push(writeNumber(session, number));
      if (underWay.length >= 500) await underWay.shift();
    }
    await Promise.all(underWay);
  })();
  const { connectString } = session;
  const { code, stderr } = await zksh(connectString, "export", "--consistent", "/t", "-o", file);
  isDone = true;
  await writes;
  expect([code, stderr]).toEqual([8, expect.stringContaining("is not consistent")]);
  expect(stderr).toContain("/t/a");
  expect(linesOf(await readFile(file, "utf8")).length).toBeGreaterThan(200);
});

test("--consistent needs a file that it can replace", async () => {
  const session = await openFresh();
  const { connectString } = session;
  for (const words of [["/"], ["/", "-o", "/dev/stdout"]]) {
    const { code, stderr } = await zksh(connectString, "export", "--consistent", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining("-o FILE")]);
  }
  const kept = join(directory, "kept");
  onTestFinished(() => rm(kept, { force: true }));
  await writeFile(kept, "older");
  expect((await zksh(connectString, "export", "--consistent", "/no", "-o", kept)).code).toBe(3);
  expect(await readFile(kept, "utf8")).toBe("older");
});
