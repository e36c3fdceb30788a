import { describe, expect, test } from "vitest";
import type { WordAnswer } from "../../src/session/four-letter-word.ts";
import { GARBAGE, MNTR_3_4, SRVR_3_4 } from "../recipes/servers/answers.ts";
import { run } from "./run.ts";

const answer = (word: string) => (word === "srvr" ? SRVR_3_4 : MNTR_3_4);
const FAST = ["--every", "100ms"];

describe("top", () => {
  test("ends after -n ticks, each with a line for each server", async () => {
    const servers = ["-s", "a:1,b:2"];
    const ran = await run([...servers, "top", "-n", "2", ...FAST], { words: answer });
    expect([ran.exit, ran.stderr]).toEqual([0, ""]);
    const rows = ran.stdout.split("\n").map((line) => line.split("\t").slice(1));
    const row = "standalone 0 0 0 1 3 140 7 0".split(" ");
    expect(rows).toEqual([["a:1", ...row], ["b:2", ...row], ["a:1", ...row], ["b:2", ...row], []]);
  });

  test("opens no session", async () => {
    const { opened } = await run(["top", "-n", "1", ...FAST], { words: answer });
    expect(opened).toEqual([]);
  });

  test("on a terminal each frame takes the place of the one before, the first at once", async () => {
    const words = answer;
    const { stdout } = await run(["top", "-n", "1", ...FAST], { words, tty: true });
    const frames = stdout.split("A\r");
    expect(frames).toHaveLength(2);
    expect(frames[0]).toMatch(/localhost:2181\S* +standalone +- +-/);
    expect(frames[1]).toMatch(/localhost:2181\S* +standalone +0 +0/);
  });

  test("refused by the whitelist is exit code 1, with the line for zoo.cfg", async () => {
    expect(await run(["top"])).toMatchObject({
      exit: 1,
      stdout: "",
      stderr:
        "error: localhost:2181 does not allow srvr and mntr: not in its 4lw.commands.whitelist\n" +
        "  add to zoo.cfg on each server, and restart it: 4lw.commands.whitelist=srvr,mntr\n",
    });
  });

  test("without any server is exit code 6, and a TLS port is named", async () => {
    const failed: WordAnswer = { kind: "failed", why: "expects-tls", says: "expects TLS" };
    const { exit, stderr } = await run(["top"], { words: () => failed });
    expect(exit).toBe(6);
    expect(stderr).toContain("error: localhost:2181: expects TLS\n  use --tls");
  });

  test("garbage in place of the answers is no figure", async () => {
    for (const garbage of GARBAGE.slice(0, 7)) {
      const { exit } = await run(["top", "-n", "1", ...FAST], { words: () => garbage });
      expect([0, 6]).toContain(exit);
    }
  });

  test.each([
    ["-n", "0"],
    ["-n", "x"],
    ["--every", "5"],
    ["--every", "10ms"],
    ["--every", "0"],
  ])("%s %s is a usage error", async (option, value) => {
    expect((await run(["top", option, value])).exit).toBe(2);
  });

  test("an interrupt is exit code 130, without a word", async () => {
    expect(await run(["top"], { words: answer, signal: "SIGINT" })).toMatchObject({
      exit: 130,
      stderr: "",
    });
  });
});
