import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  { name: "writes one identity a line", argv: ["whoami"], stdout: "ip:127.0.0.1\n" },
  { name: "writes the same to a terminal", argv: ["whoami"], tty: true, stdout: "ip:127.0.0.1\n" },
  {
    name: "has zkCli's header",
    argv: ["-o", "zkcli", "whoami"],
    stdout: "Auth scheme: User\nip: 127.0.0.1\n",
  },
  {
    name: "JSON has a list",
    argv: ["--json", "whoami"],
    stdout: '{"identities":[{"scheme":"ip","id":"127.0.0.1"}]}\n',
  },
];

describe("whoami", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
