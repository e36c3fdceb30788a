import { describe, expect, test } from "vitest";
import { Outside } from "../../src/commands/arguments.ts";
import type { AnyCommand, Context } from "../../src/commands/command.ts";
import type { Renderer } from "../../src/render/renderer.ts";
import type { Result } from "../../src/results/result.ts";
import { WriteRules } from "../../src/session/write-rules.ts";
import { type Execution, execute } from "../../src/shell/execute.ts";
import { memoryIo } from "../commands/memory-io.ts";

const renderer: Renderer = {
  result: (result) =>
    result.kind === "deleted" ? { out: `${result.path}\n`, err: `note ${result.path}\n` } : {},
  error: () => "",
};

const READ_ONLY = new WriteRules({ readOnly: { by: "--read-only", isOwnWish: true } });

function prepare(
  command: Partial<AnyCommand>,
  { writes = new WriteRules(), ...more }: Partial<Execution> & { writes?: WriteRules } = {},
) {
  const events: string[] = [];
  const io = memoryIo({ stdin: "from stdin", files: { f: "from a file" } });
  const context = { signal: new AbortController().signal, writes } as Context;
  const whole = { examples: [], effect: "read", args: {}, options: {}, ...command } as AnyCommand;
  const entry = { name: "probe", summary: "", group: "shell" as const, load: async () => whole };
  const run = (args: Record<string, unknown> = {}, options: Record<string, unknown> = {}) =>
    execute(
      { entry, command: whole, args, options },
      {
        io,
        context,
        renderer: async () => {
          events.push("renderer");
          return renderer;
        },
        onRequestsMade: () => events.push("made"),
        ...more,
      },
    );
  return { run, io, events };
}

const deleted = (path: string): Result => ({ kind: "deleted", path });

describe("execute", () => {
  test("writes a result to stdout, and its messages to stderr", async () => {
    const { run, io } = prepare({ run: async () => deleted("/a") });
    expect(await run()).toBe(0);
    expect(io.written).toEqual({ stdout: Buffer.from("/a\n"), stderr: "note /a\n" });
  });

  test("writes a stream's results as they come", async () => {
    const seen: string[] = [];
    const { run, io } = prepare({
      async *run() {
        yield deleted("/a");
        seen.push(io.written.stdout.toString());
        yield deleted("/b");
      },
    });
    await run();
    expect([...seen, io.written.stdout.toString()]).toEqual(["/a\n", "/a\n/b\n"]);
  });

  test("reads files and stdin before the command runs", async () => {
    const { run, io } = prepare({
      run: async (_context, { one, two, three }, { four }) =>
        deleted([one, two, three, four].join(" ")),
    });
    const stdin = new Outside((reader) => reader.stdin());
    const file = new Outside((reader) => reader.file("f"));
    await run({ one: stdin, two: "plain", three: file }, { four: file });
    expect(io.written.stdout.toString()).toBe("from stdin plain from a file from a file\n");
  });

  test("loads the renderer when the command's requests are made", async () => {
    const { run, events } = prepare({
      oneFlight: true,
      run: async () => {
        events.push("run");
        return deleted("/a");
      },
    });
    await run();
    expect(events).toEqual(["run", "made", "renderer"]);
  });

  test("asks a command whether it makes its requests at once", async () => {
    const command: Partial<AnyCommand> = {
      oneFlight: (_context, { quick }) => quick === true,
      run: async () => deleted("/a"),
    };
    const quick = prepare(command);
    await quick.run({ quick: true });
    const slow = prepare(command);
    await slow.run({ quick: false });
    expect([quick.events, slow.events]).toEqual([["made", "renderer"], ["renderer"]]);
  });

  test("refuses to write in read-only mode, before anything runs", async () => {
    const { run, events } = prepare(
      { effect: "write", run: async () => deleted("/a") },
      { writes: READ_ONLY },
    );
    await expect(run()).rejects.toThrow(
      expect.objectContaining({
        reason: "read-only",
        name: "RefusedError",
        message: "probe is refused: the session is read-only",
      }),
    );
    expect(events).toEqual([]);
  });

  test("reads in read-only mode", async () => {
    const { run } = prepare(
      { effect: "read", run: async () => deleted("/a") },
      { writes: READ_ONLY },
    );
    expect(await run()).toBe(0);
  });

  describe("where the rules want the path typed", () => {
    const writes = new WriteRules({ wantsPathTyped: true });

    function ask(answer: string, paths: readonly string[], rules = writes) {
      const asked: string[] = [];
      const { run } = prepare(
        {
          effect: "write",
          confirm: async () => ({ text: "Delete them?", paths, rules }),
          run: async () => deleted("/a"),
        },
        {
          asker: {
            confirm: async () => true,
            async text({ question, check }) {
              asked.push(question, String(check?.(answer)));
              return answer;
            },
            secret: async () => "",
          },
        },
      );
      return { run, asked };
    }

    test("a command runs once they are typed", async () => {
      const { run, asked } = ask("/a /b", ["/a", "/b"]);
      expect(await run()).toBe(0);
      expect(asked).toEqual(["Delete them? Type /a /b to go ahead:", "undefined"]);
    });

    test("nothing typed is a no", async () => {
      const { run, asked } = ask("", ["/a"]);
      await expect(run()).rejects.toThrow("nothing was done");
      expect(asked[1]).toBe("undefined");
    });

    test("other words, and yes, are asked for again", async () => {
      const { run, asked } = ask("y", ["/a"]);
      await expect(run()).rejects.toThrow("nothing was done");
      expect(asked[1]).toBe("type /a, or nothing to leave it");
    });

    test("control characters are typed as they are shown", async () => {
      expect(await ask("/a\\x1bb", ["/a\x1bb"]).run()).toBe(0);
    });

    test("--write answers nothing", async () => {
      const { run } = ask("", ["/a"], writes.allowed());
      await expect(run()).rejects.toThrow("nothing was done");
    });
  });

  test("throws what the command throws", async () => {
    const { run } = prepare({ run: () => Promise.reject(new Error("no luck")) });
    await expect(run()).rejects.toThrow("no luck");
  });

  test("ends a stream when the reader of its output has gone", async () => {
    let isCleanedUp = false;
    const io = memoryIo({ stdoutError: new Error("gone") });
    const { run } = prepare(
      {
        async *run() {
          try {
            for (let i = 0; i < 100; i++) yield deleted("/a");
          } finally {
            isCleanedUp = true;
          }
        },
      },
      { io },
    );
    await expect(run()).rejects.toThrow("gone");
    expect(isCleanedUp).toBe(true);
  });
});
