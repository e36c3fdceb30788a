import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const START = join(import.meta.dirname, "../../scripts/start.js");
let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(() => terminals.stop());

describe("--embedded", () => {
  test("one command", async () => {
    const { code, stdout, stderr } = await runZksh(["--embedded", "ls", "/zookeeper"]);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: "config\nquota\n", stderr: "" });
  });

  test("a script, in one session", async () => {
    const input = "create -e /a x\nset /a y\nget /a\n";
    const { code, stdout, stderr } = await runZksh(["--embedded"], { input });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: "/a\ny", stderr: "" });
  });

  test("a program under a lock, which has a session of its own", async () => {
    const { code, stdout } = await runZksh(["--embedded", "lock", "/deploy", "--", "echo", "done"]);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: "done\n" });
  });

  test("servers of the environment are not meant", async () => {
    const env = { ZKSH_SERVER: "127.0.0.1:1", ZKSH_TLS: "1" };
    expect(await runZksh(["--embedded", "stat", "/"], { env })).toMatchObject({ code: 0, stderr: "" });
  });

  test("npm start: the shell, and what it is", async () => {
    const terminal = await terminals.open({ command: [process.execPath, START] });
    await terminal.shows(/in memory only: what you store is gone[^\n]*\n[^\n]*a real ensemble: zksh -s HOST:2181/);
    await terminal.enter("create /a hello");
    await terminal.shows(/Created \/a/);
    await terminal.enter("get /a");
    await terminal.shows(/get \/a\nhello/);
    await terminal.press("C-d");
    await terminal.shows(/\[left with 0\]/);
  });

  test("npm start -- ARGS: the program", async () => {
    const { code, stdout } = await runZksh(["--embedded", "pwd"], { program: START });
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: "/\n" });
  });
});

describe("serve", () => {
  test("a lock in one program, whoholds in another", async () => {
    const server = startZksh(["serve", "--port", "0"]);
    await eventually(() => server.stdout.endsWith("\n"));
    const here = ["-s", server.stdout.trim()];
    const holder = startZksh([...here, "lock", "/deploy", "--", "sh", "-c", "echo held; read line"]);
    await eventually(() => holder.stdout === "held\n");
    const whoholds = await runZksh([...here, "--json", "whoholds", "/deploy"]);
    expect(JSON.parse(whoholds.stdout.toString())).toMatchObject({ holders: [{ pid: holder.pid }], waiters: [] });
    holder.endInput();
    expect(await holder.result).toMatchObject({ code: 1 });
    expect(await runZksh([...here, "whoholds", "/deploy"])).toMatchObject({ code: 1 });
    server.kill("SIGTERM");
    expect(await server.result).toMatchObject({ code: 0, stderr: "" });
  });
});
