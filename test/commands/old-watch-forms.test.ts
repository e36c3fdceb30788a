import { describe, expect, test } from "vitest";
import type { AnyCommand, Context } from "../../src/commands/command.ts";
import { commands } from "../../src/commands/index.ts";
import { zkcliRenderer } from "../../src/render/zkcli.ts";
import type { Result } from "../../src/results/result.ts";
import { parse } from "../../src/shell/parsing/parser.ts";
import { run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const NOTES = {
  get: "'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.\n",
  stat: "'stat path [watch]' has been deprecated. Please use 'stat [-w] path' instead.\n",
  ls: "'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.\n",
  ls2: "'ls2' has been deprecated. Please use 'ls [-s] path' instead.\n",
};

/** What a command answers, and whether it set a watch, in a shell that stays. */
async function answer(words: readonly string[], dialect: "zksh" | "zkcli" = "zksh") {
  const session = new StubSession({ "/a": "x" });
  let isWatched = false;
  const real = session.asSession();
  const watching = new Proxy(real, {
    get: (target, key: keyof typeof real) =>
      typeof target[key] === "function"
        ? (path: string, options: { watch?: unknown }) => {
            isWatched ||= options?.watch !== undefined;
            return (target[key] as (path: string, options: object) => unknown).call(
              target,
              path,
              options,
            );
          }
        : target[key],
  });
  const { command, args, options } = await parse(words, { commands, cwd: "/", dialect });
  const context = {
    session: () => watching,
    signal: new AbortController().signal,
    shell: { cwd: "/" },
    output: { isForPeople: false, onWatch() {} },
  };
  const result = (await (command as AnyCommand).run(
    context as unknown as Context,
    args,
    options,
  )) as Result;
  return { result, isWatched };
}

const view = { isTTY: false, columns: 80, isQuiet: false, now: () => 0 } as Parameters<
  typeof zkcliRenderer
>[0];

describe("zkCli's old watch forms", () => {
  test.each(Object.entries(NOTES))(
    "%s path watch sets a watch, and zkCli's note is made",
    async (name, note) => {
      const { result, isWatched } = await answer([name, "/a", "watch"]);
      expect(isWatched).toBe(true);
      expect(zkcliRenderer(view).result(result).err).toBe(note);
    },
  );

  test.each(["get", "stat", "ls"])("%s -w has no note", async (name) => {
    const { result, isWatched } = await answer([name, "-w", "/a"]);
    expect(isWatched).toBe(true);
    expect(zkcliRenderer(view).result(result).err).toBeUndefined();
  });

  test.each(["get", "stat", "ls"])("%s takes any word for it as zkCli", async (name) => {
    expect((await answer([name, "/a", "x"], "zkcli")).isWatched).toBe(true);
    expect((await answer([name, "/a", "x", "/a"], "zkcli")).isWatched).toBe(true);
  });

  test("ls does not take any word for it otherwise", async () => {
    const { stderr, exit } = await run(["ls", "/a", "x"], { given: { "/a": "" } });
    expect([stderr, exit]).toEqual(["error: too many arguments\n  -w sets a watch\n", 2]);
  });

  test.each(["get", "stat"])("%s takes any other word for another path otherwise", async (name) => {
    const { stderr, exit } = await run([name, "/a", "x"], { given: { "/a": "" } });
    expect([stderr, exit]).toEqual([
      "error: no such znode: /x (NoNode)\nerror: 1 of 2 znodes could not be read\n",
      8,
    ]);
  });
});
