import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";
import { refusal, StubSession } from "./stub-session.ts";

const MIXED =
  "Can't use -file or -members together with -add or -remove " +
  "(mixing incremental and non-incremental modes is not allowed)";
const BOTH = "Can't use -file and -members together (conflicting non-incremental modes)";

const rows: Row[] = [
  {
    name: "wants to know what to change",
    argv: ["reconfig"],
    stderr: "error: reconfig needs -file, -members, -add or -remove\n",
    exit: 2,
  },
  {
    name: "answers with zkCli's usage line",
    argv: ["-o", "zkcli", "reconfig", "-s"],
    stderr:
      "reconfig [-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | " +
      "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]\n",
    exit: 2,
  },
  {
    name: "does not mix ways of changing",
    argv: ["reconfig", "-members", "a", "-add", "b"],
    stderr: `error: ${MIXED}\n`,
    exit: 2,
  },
  {
    name: "says so in zkCli's words",
    argv: ["-o", "zkcli", "reconfig", "-members", "a", "-remove", "1"],
    stderr: `${MIXED}\n`,
    exit: 2,
  },
  {
    name: "takes one list of members",
    argv: ["reconfig", "-members", "a", "-file", "f"],
    files: { f: "server.1=a:1:2;3" },
    stderr: `error: ${BOTH}\n`,
    exit: 2,
  },
  {
    name: "the version is a number in hex",
    argv: ["reconfig", "-v", "xyz", "-remove", "1"],
    stderr:
      "error: -v must be followed by a long (configuration version)\n  use hex digits, as printed by config\n",
    exit: 2,
  },
  {
    name: "reports a file that is not there",
    argv: ["reconfig", "-file", "/nope"],
    stderr: "error: Error processing /nope (No such file or directory)\n",
    exit: 2,
  },
  {
    name: "reports a file that is no configuration",
    argv: ["reconfig", "-file", "f"],
    files: { f: "tickTime=2000\n" },
    stderr: "error: f: not a server, group or weight line: tickTime=2000\n",
    exit: 2,
  },
  {
    name: "helps where reconfiguration is switched off",
    argv: ["reconfig", "-remove", "1"],
    failures: { "": refusal("reconfig-disabled", -123, "") },
    stderr: "error: reconfig-disabled: \n  the servers need reconfigEnabled=true\n",
    exit: 1,
  },
];

const changes: { argv: string[]; change: object; files?: Record<string, string> }[] = [
  { argv: ["-add", "Server.4=ZK4:1:2;3"], change: { joining: "server.4=zk4:1:2;3" } },
  { argv: ["--add=4=a:1:2;3"], change: { joining: "4=a:1:2;3" } },
  {
    argv: ["-remove", "3,4", "-v", "100000000"],
    change: { leaving: "3,4", fromConfig: 0x100000000n },
  },
  { argv: ["-add", "4=a:1:2;3", "-remove", "1"], change: { joining: "4=a:1:2;3", leaving: "1" } },
  { argv: ["-members", "Server.1=A:1:2;3"], change: { members: "server.1=a:1:2;3" } },
  {
    argv: ["-file", "f"],
    files: { f: "# ours\nserver.1=a:1:2;3\r\n\nserver.2=b:1:2;3\nversion=1\n" },
    change: { members: "server.1=a:1:2;3\nserver.2=b:1:2;3" },
  },
];

describe("reconfig", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test.each(changes)("reads $argv", async ({ argv, change, files = {} }) => {
    const { session, stderr } = await run(["reconfig", ...argv], { files });
    expect([session.reconfigs, stderr]).toEqual([[change], ""]);
  });

  test.each(changes)("reads $argv as zkCli does", async ({ argv, change, files = {} }) => {
    const { session } = await run(["-o", "zkcli", "reconfig", ...argv], { files });
    expect(session.reconfigs).toEqual([change]);
  });

  test("writes the new configuration", async () => {
    const session = new StubSession();
    session.config = "server.1=a:1:2;3\nversion=5";
    const { stdout } = await run(["reconfig", "-remove", "1"], { session });
    expect(stdout).toBe("server.1=a:1:2;3\nversion=5\n");
    const zkcli = await run(["-o", "zkcli", "reconfig", "-remove", "1"], { session });
    expect(zkcli.stdout).toBe("Committed new configuration:\nserver.1=a:1:2;3\nversion=5\n");
    const terminal = await run(["reconfig", "-s", "-remove", "1"], { session, tty: true });
    expect(terminal.stdout).toMatch(
      /^Committed new configuration:\nserver\.1=a:1:2;3\nversion=5\n(\w+ += .*\n){11}$/,
    );
  });
});
