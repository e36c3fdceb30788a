import { describe, expect, test } from "vitest";
import { type CommandEntry, defineCommand } from "../../src/commands/command.ts";
import { textRenderer } from "../../src/render/text.ts";
import { plainTheme } from "../../src/render/theme.ts";
import { FrontEnd } from "../../src/shell/front-end.ts";
import { runOneShot } from "../../src/shell/one-shot.ts";
import { memoryIo } from "../commands/memory-io.ts";
import { StubSession } from "../commands/stub-session.ts";

function prepare(entry: Partial<CommandEntry> = {}) {
  const events: string[] = [];
  const probe = defineCommand({
    examples: [],
    effect: "read",
    args: {},
    options: {},
    oneFlight: true,
    async run({ session }) {
      await session().getData("/");
      return { kind: "version", version: "1" };
    },
  });
  const session = new StubSession();
  const run = (words: string[]) =>
    runOneShot(
      words,
      new FrontEnd({
        asker: undefined,
        io: memoryIo(),
        signal: new AbortController().signal,
        startServer: () => Promise.reject(new Error("not here")),
        isReadOnly: false,
        isForPeople: () => false,
        program: {
          globalOptions: [],
          suggest: () => undefined,
          version: () => "1",
          commands: [
            {
              name: "probe",
              summary: "",
              group: "shell",
              load: async () => {
                events.push("load");
                return probe;
              },
              ...entry,
            },
          ],
        },
        async openSession() {
          events.push("open");
          return session.asSession();
        },
        async renderer() {
          events.push("render");
          return textRenderer({
            isTTY: false,
            columns: 80,
            theme: plainTheme,
            isQuiet: false,
            now: Date.now,
          });
        },
      }),
    );
  return { run, events, session };
}

describe("runOneShot", () => {
  test("opens the session before it loads the command, and the renderer when the requests are made", async () => {
    const { run, events, session } = prepare();
    expect(await run(["probe"])).toBe(0);
    expect(events).toEqual(["open", "load", "render"]);
    expect(session.asked).toEqual(["getData /", "close", "close"]);
  });

  test("closes the session of a line that cannot be parsed", async () => {
    const { run, session } = prepare();
    await expect(run(["probe", "x"])).rejects.toThrow("too many arguments");
    expect(session.asked).toEqual(["close"]);
  });

  test("opens no session for a word that is no command", async () => {
    const { run, events } = prepare();
    await expect(run(["prob"])).rejects.toThrow("unknown command 'prob'");
    expect(events).toEqual([]);
  });

  test("tells the developer of a command that is registered as offline and is not", async () => {
    const { run, events } = prepare({ needsNoShellSession: true });
    await expect(run(["probe"])).rejects.toThrow(
      "probe is registered as offline but asks for a session",
    );
    expect(events).toEqual(["load", "render"]);
  });
});
