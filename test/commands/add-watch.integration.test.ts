import { describe, expect, test } from "vitest";
import { addWatch } from "../../src/commands/add-watch.ts";
import { renderAll } from "./render-all.ts";
import { expected, outcome, type Row } from "./run.ts";
import { shellContext } from "./shell-context.ts";

const rows: Row[] = [
  {
    name: "is refused outside the shell",
    argv: ["addWatch", "/a"],
    stderr:
      "error: a one-shot command ends before a watch could fire\n  use watch PATH: it keeps running and shows every change\n",
    exit: 2,
  },
  {
    name: "knows two modes",
    argv: ["addWatch", "-m", "ONCE", "/a"],
    stderr:
      "error: bad mode 'ONCE'\n  addWatch [-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE\n",
    exit: 2,
  },
];

describe("addWatch", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("shows events of the znode and of all below it", async () => {
    const { context, session, heard } = await shellContext();
    await addWatch.run(context, { path: "/a" }, { mode: undefined });
    await session.create("/a", null);
    await session.create("/a/b", null);
    await session.setData("/a/b", null);
    await session.sync("/");
    expect(heard).toEqual(["created /a", "created /a/b", "data-changed /a/b"]);
  });

  test("-m PERSISTENT is for the znode alone", async () => {
    const { context, session, heard } = await shellContext();
    await addWatch.run(context, { path: "/a" }, { mode: "persistent" });
    await session.create("/a", null);
    await session.create("/a/b", null);
    await session.setData("/a/b", null);
    await session.sync("/");
    expect(heard).toEqual(["created /a", "children-changed /a"]);
  });

  test("says so on a terminal, and nothing as zkCli", async () => {
    expect(await renderAll({ kind: "watch-added", path: "/a", isRecursive: true })).toEqual({
      terminal: "Watching /a and everything below it\n",
      pipe: "",
      json: '{"path":"/a","isRecursive":true}\n',
      zkcli: "",
    });
  });
});
