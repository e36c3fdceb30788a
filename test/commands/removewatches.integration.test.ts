import { describe, expect, test } from "vitest";
import { removeWatches } from "../../src/commands/removewatches.ts";
import { rejection } from "../support/open-session.ts";
import { renderAll } from "./render-all.ts";
import { expected, outcome, type Row } from "./run.ts";
import { shellContext } from "./shell-context.ts";

const none = {
  children: false,
  data: false,
  persistent: false,
  recursive: false,
  all: false,
  local: false,
};

const rows: Row[] = [
  {
    name: "takes one kind, or all",
    argv: ["removewatches", "/a", "-c", "-d"],
    stderr: "error: only one of -c, -d, -p, -r and -a can be given\n",
    exit: 2,
  },
];

describe("removewatches", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("removes the watches of the shell, by kind or all at once", async () => {
    const { context, session, heard, onWatch } = await shellContext();
    await session.create("/a", null);
    await session.getData("/a", { watch: onWatch });
    await session.getChildren("/a", { watch: onWatch });
    expect(await removeWatches.run(context, { path: "/a" }, { ...none, data: true })).toMatchObject(
      {
        removed: ["data"],
      },
    );
    await session.setData("/a", null);
    expect(await removeWatches.run(context, { path: "/a" }, none)).toMatchObject({
      removed: ["children"],
    });
    await session.create("/a/b", null);
    await session.sync("/");
    expect(heard).toEqual([]);
  });

  test("tells a persistent watch from a recursive one", async () => {
    const { context, session, onWatch } = await shellContext();
    await session.addWatch("/a", "recursive", onWatch);
    await session.addWatch("/b", "persistent", onWatch);
    const removed = (path: string, only: Partial<typeof none>) =>
      removeWatches.run(context, { path }, { ...none, ...only }) as Promise<unknown>;
    expect(await rejection(removed("/a", { persistent: true }))).toMatchObject({ code: -121 });
    expect(await rejection(removed("/b", { recursive: true }))).toMatchObject({ code: -121 });
    expect(await removed("/a", { recursive: true })).toMatchObject({ removed: ["persistent"] });
    expect(await removed("/b", { persistent: true })).toMatchObject({ removed: ["persistent"] });
    expect(await rejection(removed("/b", {}))).toMatchObject({ code: -121 });
  });

  test("fails where there is none, but for -l", async () => {
    const { context } = await shellContext();
    expect(
      await rejection(removeWatches.run(context, { path: "/a" }, none) as Promise<unknown>),
    ).toMatchObject({
      message: "no such watch: /a (NoWatcher)",
      code: -121,
      name: "OperationError",
    });
    expect(
      await removeWatches.run(context, { path: "/a" }, { ...none, local: true }),
    ).toMatchObject({ removed: [] });
  });

  test("tells each kind as zkCli does", async () => {
    const event = (type: string) =>
      `\nWATCHER::\n\nWatchedEvent state:SyncConnected type:${type} path:/a\n`;
    const result = {
      kind: "watches-removed",
      path: "/a",
      removed: ["children", "persistent"],
    } as const;
    const rendered = {
      terminal: "No longer watching /a\n",
      pipe: "",
      json: '{"path":"/a","removed":["children","persistent"]}\n',
      zkcli: event("ChildWatchRemoved") + event("PersistentWatchRemoved"),
    };
    expect(await renderAll({ ...result, printsWatches: true })).toEqual(rendered);
    expect(await renderAll({ ...result, printsWatches: false })).toEqual({
      ...rendered,
      zkcli: "",
    });
  });
});
