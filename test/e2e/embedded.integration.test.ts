import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { spawnTracked } from "../support/tracked-process.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const START = join(import.meta.dirname, "../../scripts/start.js");
const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");
const NOBODY = 65_534;

/** In Python, because node may be where only its owner may read. */
const ASK = `
import socket, sys
where = sys.argv[1]
try:
    if where.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(where[5:])
    else:
        host, port = where.rsplit(":", 1)
        s = socket.create_connection((host, int(port)))
    s.sendall(b"ruok")
    print(s.recv(4).decode())
except PermissionError:
    print("refused")
`;

/** What the server at `address` says to a user that is not ours. */
async function askAsNobody(address: string): Promise<string> {
  const isRoot = process.getuid?.() === 0;
  const child = spawnTracked("/usr/bin/python3", ["-IS", "-c", ASK, address], {
    cwd: "/",
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString().trim();
}

let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(() => terminals.stop());

describe("--embedded", () => {
  test("runs one command", async () => {
    const { code, stdout, stderr } = await runZksh(["--embedded", "ls", "/zookeeper"]);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: "config\nquota\n",
      stderr: "",
    });
  });

  test("runs a script in one session", async () => {
    const input = "create -e /a x\nset /a y\nget /a\n";
    const { code, stdout, stderr } = await runZksh(["--embedded"], { input });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: "/a\ny",
      stderr: "",
    });
  });

  test("runs a command under a lock, which has a session of its own", async () => {
    const { code, stdout } = await runZksh(["--embedded", "lock", "/deploy", "--", "echo", "done"]);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: "done\n" });
  });

  test("ignores the servers of the environment", async () => {
    const env = { ZKSH_SERVER: "127.0.0.1:1", ZKSH_TLS: "1" };
    expect(await runZksh(["--embedded", "stat", "/"], { env })).toMatchObject({
      code: 0,
      stderr: "",
    });
  });

  test.runIf(process.getuid?.() === 0)(
    "another user of the machine cannot connect, a program that it runs can",
    async () => {
      const script = `echo "$ZKSH_SERVER"; node "${PROGRAM}" whoholds /a > /dev/null && echo reached; read line`;
      const zksh = startZksh(["--embedded", "lock", "/a", "--", "sh", "-c", script]);
      await eventually(() => expect(zksh.stdout).toMatch(/\nreached\n/));
      const [address = ""] = zksh.stdout.split("\n");
      expect(await askAsNobody(address)).toBe("refused");
      zksh.endInput();
      await zksh.result;
      expect(existsSync(dirname(address.replace("unix:", "")))).toBe(false);
    },
  );

  test("serve is open to all users of the machine", async () => {
    const server = startZksh(["serve", "--port", "0"]);
    await eventually(() => server.stdout.endsWith("\n"));
    expect(await askAsNobody(server.stdout.trim())).toBe("imok");
    server.kill("SIGTERM");
    await server.result;
  });

  test("npm start: the shell, and what it is", async () => {
    const terminal = await terminals.open({ command: [process.execPath, START] });
    await terminal.shows(
      /in memory only: what you store is gone[^\n]*\n[^\n]*a real ensemble: zksh -s HOST:2181/,
    );
    await terminal.enter("create /a hello");
    await terminal.shows(/Created \/a/);
    // It would stand between the line and its answer.
    await terminal.shows(/connected to/);
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
    const holder = startZksh([
      ...here,
      "lock",
      "/deploy",
      "--",
      "sh",
      "-c",
      "echo held; read line",
    ]);
    await eventually(() => holder.stdout === "held\n");
    const whoholds = await runZksh([...here, "--json", "whoholds", "/deploy"]);
    expect(JSON.parse(whoholds.stdout.toString())).toMatchObject({
      holders: [{ pid: holder.pid }],
      waiters: [],
    });
    holder.endInput();
    expect(await holder.result).toMatchObject({ code: 1 });
    expect(await runZksh([...here, "whoholds", "/deploy"])).toMatchObject({ code: 1 });
    server.kill("SIGTERM");
    expect(await server.result).toMatchObject({ code: 0, stderr: "" });
  });
});
