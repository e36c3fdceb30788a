/**
 * A reader of our output who does not read must not cost the lock: nothing that is written for
 * people may hold up heartbeats and guard. Each test has the reader stand still for two and a half
 * session timeouts.
 */
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { monotonicMs } from "../../src/processes/monotonic-clock.ts";
import { eventually } from "../support/eventually.ts";
import { Fifo } from "../support/fifo.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { type Beat, LOCK, Scene } from "./lock-scene.ts";

/** Long enough for a busy machine, whose heartbeats come late. */
const T = 4_000;
/** A reader stands still for this long. */
const PAUSE_MS = 2.5 * T;
const SHORT = ["--session-timeout", `${T}ms`, "--on-revoke", "ignore"];

/** Terminals of one test's own, because they are paused together. */
async function terminalsOf(context: TestContext): Promise<Terminals> {
  const terminals = await startTerminals();
  context.onTestFinished(() => terminals.stop());
  return terminals;
}

/** zksh says that it was asked, and goes on. */
async function askFor(scene: Scene): Promise<void> {
  await scene.session.setData(await scene.queue(1), Buffer.from("unlock"));
}

/** The command runs on for all that time, and the ticket is still there. */
async function goesOn(scene: Scene, beat: Beat): Promise<void> {
  const [before] = await scene.tickets();
  const until = monotonicMs() + PAUSE_MS;
  await eventually(() => expect(beat.lastAt).toBeGreaterThan(until), {
    timeoutMs: 2 * PAUSE_MS,
    message: "it does not beat",
  });
  expect(await scene.tickets()).toEqual([before]);
}

test.concurrent("a full pipe on stderr: the lock is held to the end, and the exit code is the command's", async (context) => {
  const scene = await Scene.at(context);
  const stderr = new Fifo(scene.file());
  context.onTestFinished(() => stderr.close());
  const beat = scene.beat();
  const zksh = scene.start(["-v", "lock", ...SHORT, LOCK, "--", ...beat.command()], {
    stderr: stderr.input,
    timeoutMs: 60_000,
  });
  await beat.started();
  await eventually(() => expect(stderr.read()).toContain("started process"));
  const filled = stderr.fill();
  await askFor(scene);
  await goesOn(scene, beat);
  expect(beat.signals).toEqual([]);
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
  // It ended without the reader, who finds nothing but what was there before.
  expect(stderr.read()).toHaveLength(filled);
});

test.concurrent("a pipe on stderr that is read again delivers the messages written meanwhile", async (context) => {
  const scene = await Scene.at(context);
  const stderr = new Fifo(scene.file());
  context.onTestFinished(() => stderr.close());
  const beat = scene.beat();
  const zksh = scene.start(["-v", "lock", ...SHORT, LOCK, "--", ...beat.command()], {
    stderr: stderr.input,
    timeoutMs: 60_000,
  });
  await beat.started();
  await eventually(() => expect(stderr.read()).toContain("started process"));
  const filled = stderr.fill();
  await askFor(scene);
  await goesOn(scene, beat);
  expect(stderr.read()).toHaveLength(filled);
  await eventually(() => expect(stderr.read()).toContain(`asked for ${LOCK}`));
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
  expect(stderr.read()).toMatch(/^ended with code 7\nreleased \/l\n$/);
});

test.concurrent("a full socket on stderr: the lock is held, and the end waits for the reader", async (context) => {
  const scene = await Scene.at(context);
  const beat = scene.beat();
  const filler = ["/usr/bin/python3", "-IS", join(import.meta.dirname, "fixtures/fill_stderr.py")];
  const words = ["lock", ...SHORT, LOCK, "--", ...filler, ...beat.command()];
  const zksh = scene.start(words, { isStderrUnread: true, timeoutMs: 60_000 });
  await beat.started();
  await askFor(scene);
  await goesOn(scene, beat);
  beat.end();
  zksh.readStderr();
  const { code, stderr } = await zksh.result;
  expect([code, beat.signals]).toEqual([7, []]);
  expect(stderr).toContain(`asked for ${LOCK}`);
});

test.concurrent("Ctrl-S on the terminal: the command runs on", async (context) => {
  const scene = await Scene.at(context);
  const beat = scene.beat();
  const terminals = await terminalsOf(context);
  const args = ["-s", scene.server, "lock", ...SHORT, LOCK, "--", ...beat.command()];
  const terminal = await terminals.open({ args });
  await beat.started();
  await terminal.press("C-s");
  await askFor(scene);
  await goesOn(scene, beat);
  await terminal.press("C-q");
  await terminal.shows(`asked for ${LOCK}`);
  beat.end();
  expect(await terminal.left()).toMatchObject({ code: 7 });
});

test.concurrent("the shell holds a lock at the prompt while the terminal is not read", async (context) => {
  const scene = await Scene.at(context);
  await scene.session.create("/w", null);
  const terminals = await terminalsOf(context);
  const terminal = await terminals.open({ args: ["-s", scene.server, "-t", `${T}ms`] });
  await terminal.endsWith(/ \/ ›/);
  await terminal.enter(`lock ${LOCK}`);
  await terminal.endsWith(/lock:\/l \/ ›/);
  await terminal.enter("addWatch -m PERSISTENT_RECURSIVE /w");
  await terminal.endsWith(/lock:\/l \/ ›/);
  const [ticket] = await scene.tickets();
  terminals.pause();
  try {
    // Each is told above the prompt, in a line that is longer than this name: more than a
    // terminal's buffer takes.
    const name = "n".repeat(200);
    for (let index = 0; index < 600; index++)
      await scene.session.create(`/w/${name}${index}`, null);
    const rival = await scene.rival();
    const until = monotonicMs() + PAUSE_MS;
    await eventually(() => monotonicMs() > until, { timeoutMs: 2 * PAUSE_MS });
    expect((await scene.tickets())[0]).toBe(ticket);
    terminals.resume();
    await terminal.enter("quit");
    await rival.gotAt;
  } finally {
    terminals.resume();
  }
  expect(await terminal.left()).toMatchObject({ code: 0 });
});
