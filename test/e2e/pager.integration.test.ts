import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshChroot } from "../support/shared-server.ts";
import {
  startTerminals,
  type Terminal,
  type TerminalOptions,
  type Terminals,
} from "../support/terminal.ts";
import { runZksh } from "../support/zksh-process.ts";

let terminals: Terminals;
let server: string;

beforeAll(async () => {
  terminals = await startTerminals();
  server = await freshChroot();
  const names = Array.from({ length: 60 }, (_, i) => `create /tree/n${String(i).padStart(3, "0")}`);
  await runZksh(["-s", server, "-c", `create /tree root; ${names.join(";")}`]);
});

afterAll(() => terminals.stop());

const LIST = ["ls", "-R", "/tree"];

function open(args: readonly string[], options: TerminalOptions = {}): Promise<Terminal> {
  // The shell around zksh gets Ctrl-C as well, and has to survive it to tell the exit code.
  return terminals.open({
    before: "trap : INT",
    rows: 20,
    ...options,
    args: ["-s", server, ...args],
  });
}

async function expectLeft(terminal: Terminal, code: number): Promise<string> {
  const left = await terminal.left();
  expect(left).toMatchObject({ code, after: left.before });
  return terminal.screen();
}

describe("a one-shot on a terminal", () => {
  test("shows long results in less, and ends with it", async () => {
    const terminal = await open(LIST);
    const first = await terminal.endsWith(":");
    expect(first).toContain("/tree/n017");
    expect(first).not.toContain("/tree/n030");
    await terminal.press("Space");
    await terminal.shows("/tree/n030");
    await terminal.press("q");
    expect(await expectLeft(terminal, 0)).not.toContain("error");
  });

  test("shows short results without a pager", async () => {
    expect(await expectLeft(await open(["get", "/tree"]), 0)).toMatch(/^root\n\[left with 0\]$/);
  });

  test.each<[string, string[], Record<string, string>]>([
    ["--no-pager", ["--no-pager", ...LIST], {}],
    ["an empty ZKSH_PAGER", LIST, { ZKSH_PAGER: "" }],
    ["a pager that is not installed", LIST, { ZKSH_PAGER: "no-such-pager -x" }],
    ["a dumb terminal", LIST, { TERM: "dumb" }],
    ["zkCli's output", ["-o", "zkcli", ...LIST], {}],
  ])("with %s everything is shown at once", async (_, args, env) => {
    const screen = await expectLeft(await open(args, { env }), 0);
    expect(screen).toContain("/tree/n000");
    expect(screen).toContain("/tree/n059");
    expect(screen).not.toContain("not found");
  });

  test("takes ZKSH_PAGER before PAGER", async () => {
    const env = { ZKSH_PAGER: "head -n 2 | tr a-z A-Z", PAGER: "no-such-pager" };
    const screen = await expectLeft(await open(LIST, { env }), 0);
    expect(screen).toBe("/TREE\n/TREE/N000\n[left with 0]");
  });

  test("Ctrl-C leaves the pager its screen, and the terminal as it was", async () => {
    const terminal = await open(LIST);
    await terminal.endsWith(":");
    await terminal.press("C-c");
    // less throws away what is typed while it handles the signal.
    await eventually(async () => {
      await terminal.press("Space");
      return (await terminal.screen()).includes("/tree/n030");
    });
    await terminal.press("q");
    await expectLeft(terminal, 0);
  });

  test("SIGTERM ends the pager with zksh", async () => {
    const terminal = await open(LIST);
    await terminal.endsWith(":");
    process.kill(terminal.pid, "SIGTERM");
    await expectLeft(terminal, 143);
  });
});

describe("the prompt", () => {
  test("pages long results and nothing else, and takes the terminal back", async () => {
    const terminal = await open(["-q"]);
    await terminal.endsWith("›");
    await terminal.enter("ls -R /tree");
    await terminal.endsWith(":");
    await terminal.press("q");
    await terminal.endsWith("›");
    await terminal.enter("ls -R /tree | tail -n 1");
    await terminal.shows(/^\/tree\/n059$/m);
    await terminal.enter("get /tree");
    await terminal.shows(/^root$/m);
    await terminal.enter("--no-pager ls -R /tree");
    await terminal.shows(/^\/tree\/n040\n(.|\n)*\/tree\/n059\n.*›$/m);
    await terminal.press("C-d");
    await expectLeft(terminal, 0);
  });

  test("a live view is not paged", async () => {
    const terminal = await open(["-q"]);
    await terminal.endsWith("›");
    await terminal.enter("watch /tree");
    await terminal.shows("current /tree");
    await terminal.press("C-c");
    await terminal.endsWith("›");
  });
});
