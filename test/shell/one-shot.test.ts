import { describe, expect, test } from "vitest";
import { type CommandEntry, defineCommand } from "../../src/commands/command.ts";
import { runOneShot } from "../../src/shell/one-shot.ts";
import { StubSession } from "../commands/stub-session.ts";
import { testFrontEnd } from "./test-front-end.ts";

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
  const entries: CommandEntry[] = [
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
  ];
  const run = (words: string[]) =>
    runOneShot(
      words,
      testFrontEnd({
        commands: entries,
        openSession: async () => {
          events.push("open");
          return session.asSession();
        },
        onRenderer: () => events.push("render"),
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
