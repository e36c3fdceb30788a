import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { startShell } from "../../src/processes/shell-child.ts";
import { eventually } from "../support/eventually.ts";
import { rejection } from "../support/open-session.ts";
import { isRunning, removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

const directory = temporaryDirectory("shell-child");
afterAll(() => removeDirectory(directory));

const environment = { PATH: process.env.PATH, KEPT: "kept" };

async function start(command: string, env = environment) {
  let out = "";
  const child = await startShell(
    { command, env: { ADDED: "added" }, onOutput: (bytes) => (out += Buffer.from(bytes)) },
    env,
  );
  return { child, output: () => out };
}

describe("a command of the system's shell", () => {
  test("reads what is written to it, has the environment, and tells its exit code", async () => {
    const { child, output } = await start('cat; echo " $KEPT $ADDED"; exit 3');
    child.stdin.end("in");
    expect(await child.ended).toEqual({ code: 3 });
    expect(output()).toBe("in kept added\n");
  });

  test("tells the signal that ended it", async () => {
    const { child } = await start("kill -9 $$");
    expect(await child.ended).toEqual({ killedBy: "SIGKILL" });
  });

  test("breaks the pipe of its writer when it ends without reading, and no more", async () => {
    const { child } = await start("exit 0");
    const broken = once(child.stdin, "error");
    child.stdin.write("x".repeat(10_000_000));
    expect(await child.ended).toEqual({ code: 0 });
    expect((await broken)[0]).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) });
  });

  test("is stopped with all that it has started", async () => {
    const file = join(directory, "pids");
    const { child } = await start(`sleep 1000 & echo $! $$ > ${file}; wait`);
    const pids = await eventually(() => {
      const found = readFileSync(file, "utf8").trim().split(" ").map(Number);
      expect(found).toHaveLength(2);
      return found;
    });
    child.stop();
    child.stop();
    expect(await child.ended).toEqual({ killedBy: "SIGTERM" });
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]));
  });

  test("that cannot be started fails with the reason", async () => {
    expect(await rejection(start("true", { PATH: directory, KEPT: "" }))).toMatchObject({
      message: expect.stringContaining("cannot start sh: no such program"),
    });
  });
});
