import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const rows: Row[] = [
  { name: "says nothing in a pipe", argv: ["connect", "h:1"] },
  {
    name: "says where to on a terminal",
    argv: ["connect", "h:1"],
    tty: true,
    stdout: "Connected to 127.0.0.1:2181, session 0x10\n",
  },
  {
    name: "says it in JSON",
    argv: ["--json", "connect"],
    stdout: '{"server":"127.0.0.1:2181","sessionId":"0x10","isReadOnly":false}\n',
  },
  { name: "says nothing as zkCli", argv: ["-o", "zkcli", "connect"] },
  {
    name: "refuses a bad list",
    argv: ["connect", "h:none"],
    stderr: "error: bad port 'none' in server list: 'h:none'\n",
    exit: 2,
  },
];

describe("connect", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("leaves one session and opens the next, there and later at the same place", async () => {
    const { opened, session, exit } = await run([
      "-s",
      "a",
      "-c",
      "ls /; connect b:9/c; ls /; connect",
    ]);
    expect(exit).toBe(0);
    expect(opened.map(({ servers, chroot }) => [servers[0], chroot])).toEqual([
      [{ host: "a", port: 2181 }, ""],
      [{ host: "b", port: 9 }, "/c"],
      [{ host: "b", port: 9 }, "/c"],
    ]);
    expect(session.asked).toEqual(["getChildren /", "close", "getChildren /", "close", "close"]);
  });
});
