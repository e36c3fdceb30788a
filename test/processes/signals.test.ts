import { expect, test } from "vitest";
import { takeSignals } from "../../src/processes/signals.ts";
import { eventually } from "../support/eventually.ts";

/** Signals that nobody else in this process listens to. */
const NAMES = ["SIGUSR2", "SIGWINCH"] as const;

function listeners(): number[] {
  return NAMES.map((name) => process.listenerCount(name));
}

test("only the newest taker hears a signal, and leaves it to the one before", async () => {
  const before = listeners();
  const heard: string[] = [];
  const after = async (signal: NodeJS.Signals, count: number) => {
    process.kill(process.pid, signal);
    await eventually(() => heard.length >= count);
    return heard.splice(0);
  };
  const giveBack1 = takeSignals(NAMES, (signal) => heard.push(`1 ${signal}`));
  expect(await after("SIGUSR2", 1)).toEqual(["1 SIGUSR2"]);
  const giveBack2 = takeSignals(["SIGUSR2"], (signal) => heard.push(`2 ${signal}`));
  const giveBack3 = takeSignals(["SIGUSR2"], (signal) => heard.push(`3 ${signal}`));
  expect(await after("SIGUSR2", 1)).toEqual(["3 SIGUSR2"]);
  expect(await after("SIGWINCH", 1)).toEqual(["1 SIGWINCH"]);
  // Not in the order in which they were taken.
  giveBack2();
  expect(await after("SIGUSR2", 1)).toEqual(["3 SIGUSR2"]);
  giveBack3();
  expect(await after("SIGUSR2", 1)).toEqual(["1 SIGUSR2"]);
  giveBack1();
  expect(listeners()).toEqual(before);
});

test("signal listeners of packages do not replace ours", async () => {
  const heard: string[] = [];
  const giveBack = takeSignals(["SIGUSR2"], () => heard.push("ours"));
  const theirs = () => heard.push("theirs");
  process.on("SIGUSR2", theirs);
  process.kill(process.pid, "SIGUSR2");
  await eventually(() => heard.length === 2);
  expect(heard).toEqual(["ours", "theirs"]);
  process.off("SIGUSR2", theirs);
  giveBack();
});

test("a listener may remove itself while it is called", async () => {
  const heard: string[] = [];
  const giveBack1 = takeSignals(["SIGUSR2"], () => heard.push("1"));
  const giveBack2 = takeSignals(["SIGUSR2"], () => {
    heard.push("2");
    giveBack2();
  });
  process.kill(process.pid, "SIGUSR2");
  await eventually(() => heard.length > 0);
  process.kill(process.pid, "SIGUSR2");
  await eventually(() => heard.length > 1);
  expect(heard).toEqual(["2", "1"]);
  giveBack1();
});
