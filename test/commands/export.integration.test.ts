import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFresh } from "../support/fresh-session.ts";
import { zksh } from "../support/random-trees.ts";

test("an export names the znodes that change meanwhile, and appears only when complete", async () => {
  const session = await openFresh();
  const { connectString } = session;
  await session.create("/t", null);
  for (let i = 0; i < 300; i++) await session.create(`/t/${i}`, Buffer.from("x"));
  const file = join(tmpdir(), `zksh-busy-${process.pid}.jsonl`);
  onTestFinished(() => rm(file, { force: true }));
  let isDone = false;
  const writes = (async () => {
    while (!isDone) await session.setData("/t/7", Buffer.from("y"));
  })();
  const { code, stderr } = await zksh(connectString, "export", "/t", "-o", file);
  isDone = true;
  await writes;
  expect([code, stderr]).toEqual([0, expect.stringContaining("changed during the export: /t/7")]);
  expect((await readFile(file, "utf8")).split("\n")).toHaveLength(303);
  const missing = await zksh(connectString, "export", "/t", "-o", "/nowhere/f");
  expect([missing.code, missing.stderr]).toEqual([
    2,
    "error: cannot write /nowhere/f: no such file\n",
  ]);
});
