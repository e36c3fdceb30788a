import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { processTable } from "../../src/processes/process-table.ts";
import { killLeftBehind, runChild } from "../../src/processes/run-child.ts";
import { eventually } from "../support/eventually.ts";
import { rejection } from "../support/open-session.ts";
import {
  isRunning,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "../support/tracked-process.ts";

const directory = temporaryDirectory("child");
const file = join(directory, "out");
const environment = { PATH: process.env.PATH, KEPT: "kept" };

afterAll(() => removeDirectory(directory));

function run(script: string, { signal = new AbortController().signal, input = "" } = {}) {
  const request = {
    argv: ["sh", "-c", script] as const,
    env: { ADDED: "added" },
    input: Buffer.from(input),
    signal,
  };
  return runChild(request, environment, 300);
}

describe("runChild", () => {
  test("gives the input and the environment, and tells the code", async () => {
    expect(await run(`(cat; echo " $KEPT $ADDED") > ${file}; exit 3`, { input: "in" })).toEqual({
      code: 3,
    });
    expect(readFileSync(file, "utf8")).toBe("in kept added\n");
  });

  test("tells the signal that ended it", async () => {
    expect(await run("kill -9 $$")).toEqual({ killedBy: "SIGKILL" });
  });

  test("does not mind a program that leaves its input unread", async () => {
    expect(await run("exit 0", { input: "x".repeat(1_000_000) })).toEqual({ code: 0 });
  });

  test("says why a program cannot be started", async () => {
    const request = { env: {}, input: Buffer.alloc(0), signal: new AbortController().signal };
    expect(await rejection(runChild({ ...request, argv: ["/no/such"] }, {}))).toMatchObject({
      message: "cannot run /no/such: no such program",
      name: "UsageError",
    });
    expect(await rejection(runChild({ ...request, argv: ["/etc/passwd"] }, {}))).toMatchObject({
      message: "cannot run /etc/passwd: not executable",
    });
  });

  test.each([
    { name: "a program", script: `sleep 300 & echo $! > ${file}.a; wait` },
    { name: "a stubborn one", script: `trap '' TERM; sleep 300 & echo $! > ${file}.b; wait; wait` },
  ])("stops $name and what it has started", async ({ name, script }) => {
    const stop = new AbortController();
    const ended = rejection(run(script, { signal: stop.signal }));
    const pid = await eventually(() => {
      const text = readFileSync(`${file}.${name === "a program" ? "a" : "b"}`, "utf8");
      return text.endsWith("\n") && Number(text);
    });
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await ended).toBe(reason);
    await eventually(() => !isRunning(pid));
  });

  test("stops what ignores SIGTERM when the program itself has ended", async () => {
    const stop = new AbortController();
    const script = `(trap '' TERM; exec sleep 300) & echo $! > ${file}.c; exec sleep 300`;
    const ended = rejection(run(script, { signal: stop.signal }));
    const pid = await eventually(() => {
      const text = readFileSync(`${file}.c`, "utf8");
      return text.endsWith("\n") && Number(text);
    });
    stop.abort(new Error("enough"));
    await ended;
    await eventually(() => !isRunning(pid));
  });
});

test("a session that has only got the program's number is not killed with it", async () => {
  const stranger = spawnTracked("sh", ["-c", "sleep 300 & wait"], {
    detached: true,
    env: { PATH: process.env.PATH },
  });
  const session = stranger.pid ?? 0;
  const members = () =>
    processTable().filter((row) => row.session === session && row.state !== "zombie");
  await eventually(() => expect(members()).toHaveLength(2));
  const before = members();
  // The same numbers, but of processes that were started at another time, or with another mark.
  const known = new Map(before.map(({ pid, start }) => [pid, `${start}1`]));
  killLeftBehind(session, { known, mark: "ZKSH_RUN=ours" });
  expect(members()).toEqual(before);
  killLeftBehind(session, {
    known: new Map(before.map(({ pid, start }) => [pid, start])),
    mark: "ZKSH_RUN=ours",
  });
  await eventually(() => expect(members()).toEqual([]));
});
