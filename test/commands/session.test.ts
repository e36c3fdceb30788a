import { describe, expect, test } from "vitest";
import { OperationError } from "../../src/errors.ts";
import { DUMP_3_4, GARBAGE } from "../recipes/servers/answers.ts";
import { run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

/** Of a release before 3.6. */
class Old extends StubSession {
  override async getEphemerals(): Promise<string[]> {
    throw new OperationError("unimplemented", "getEphemerals needs ZooKeeper 3.6");
  }
}

describe("session", () => {
  test("searches its own ephemerals on servers before 3.6", async () => {
    const session = new Old({ "/a": "x", "/a/b": "y" });
    const { exit, stdout, stderr } = await run(["session"], { session });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^session\t0x/);
    expect(stderr).toContain("note: the ephemerals were searched in 3 znodes\n");
  });

  test("an answer of 3.4 tells the ephemerals of another session", async () => {
    const words = (word: string) => (word === "dump" ? DUMP_3_4 : "");
    const given = { "/locks": "" };
    const { exit, stdout } = await run(["session", "0x169a8a7b0d50000"], { words, given });
    expect([exit, stdout]).toEqual([
      0,
      "session\t0x169a8a7b0d50000\nephemeral\t/locks/lock-0000000001\n",
    ]);
  });

  test("names in answers are escaped", async () => {
    const evil = "/e\u001b[2J\u202e";
    const dump = `SessionTracker dump:\n\t0x5\nephemeral nodes dump:\n0x5:\n\t${evil}\n`;
    const cons = " /1.2.3.4:5\u001b[1](queued=0,recved=1,sid=0x5,to=1000)\n";
    const words = (word: string) => (word === "dump" ? dump : cons);
    for (const argv of [
      ["session", "0x5"],
      ["session", "--all"],
    ]) {
      for (const tty of [true, false]) {
        const { exit, stdout, stderr } = await run(argv, { words, tty });
        expect(exit).toBe(0);
        expect(stdout + stderr).toContain("1.2.3.4:5\\x1b");
        expect(stdout + stderr).not.toContain("\u001b[2J");
      }
    }
  });

  test("garbage in place of the answers is no answer", async () => {
    for (const garbage of GARBAGE) {
      const { exit, stderr } = await run(["session", "0x5"], { words: () => garbage });
      expect(exit).toBe(1);
      expect(stderr).toContain("error: session 0x5 owns no ephemeral znode");
      expect(stderr).toContain("did not answer dump: the server's answer cannot be read");
    }
  });
});
