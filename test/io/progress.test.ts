import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Output } from "../../src/io/io.ts";
import { Progress } from "../../src/io/progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A terminal that keeps what is written to it; what ora does to the cursor is kept as its name. */
function terminal({ isTTY = true, colorLevel = 1, columns = 80 }: Partial<Output> = {}) {
  let written = "";
  const note = (what: string) => () => {
    written += `<${what}>`;
    return true;
  };
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        written += chunk;
        done();
      },
    }),
    {
      isTTY,
      columns,
      cursorTo: note("cursorTo"),
      clearLine: note("clearLine"),
      moveCursor: note("moveCursor"),
    },
  );
  return { output: { stream, isTTY, columns, colorLevel }, written: () => written };
}

/** Lets time pass, and ora be loaded. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await import("ora");
  await vi.advanceTimersByTimeAsync(0);
}

describe("progress", () => {
  test("shows nothing of quick work", async () => {
    const { output, written } = terminal();
    const progress = new Progress(() => output);
    progress.start(() => "get");
    await pass(140);
    progress.stop();
    await pass(1_000);
    expect(written()).toBe("");
  });

  test("shows slow work, and takes it off the screen again", async () => {
    const { output, written } = terminal();
    const progress = new Progress(() => output);
    progress.start(() => "get (Ctrl-C cancels)");
    await pass(160);
    expect(written()).toContain("get (Ctrl-C cancels)");
    const before = written().length;
    progress.stop();
    expect(written().slice(before)).toContain("<clearLine>");
    const after = written().length;
    await pass(1_000);
    expect(written().length).toBe(after);
  });

  test("leaves its last word where it has spun, and nowhere else", async () => {
    const { output, written } = terminal();
    const progress = new Progress(() => output);
    progress.start(() => "waiting");
    await pass(160);
    progress.stop("acquired");
    expect(written()).toMatch(/✔.*acquired\n$/);
    const before = written().length;
    progress.start(() => "waiting");
    await pass(100);
    progress.stop("acquired");
    await pass(1_000);
    expect(written().length).toBe(before);
  });

  test("goes on spinning when something else is waited for", async () => {
    const { output, written } = terminal();
    const progress = new Progress(() => output);
    progress.start(() => "3rd of 3");
    await pass(160);
    progress.start(() => "2nd of 3");
    progress.stop("acquired");
    expect(written()).toMatch(/3rd of 3[\s\S]*acquired\n$/);
  });

  test("asks for its text again while it spins", async () => {
    const { output, written } = terminal();
    const progress = new Progress(() => output);
    let left = 9;
    progress.start(() => `suspended, ${left}s left`);
    await pass(160);
    left = 8;
    await pass(500);
    progress.stop();
    expect(written()).toMatch(/9s left[\s\S]*8s left/);
  });

  test("counts, from the first report on", async () => {
    const { output, written } = terminal();
    const progress = new Progress(() => output);
    progress.report(12, "znodes deleted");
    progress.report(12_345, "znodes deleted");
    await pass(160);
    progress.report(1_000_000, "znodes deleted");
    await pass(500);
    progress.stop();
    expect(written()).not.toContain(" 12 znodes");
    expect(written()).toMatch(/12,345 znodes deleted[\s\S]*1,000,000 znodes deleted/);
  });

  test("does not spin when it was stopped while the spinner was being loaded", async () => {
    const { output, written } = terminal();
    const progress = new Progress(() => output);
    progress.start(() => "get");
    vi.advanceTimersByTime(150);
    progress.stop();
    await pass(1_000);
    expect(written()).toBe("");
  });

  test.each([
    { name: "in a pipe", where: { isTTY: false }, how: {} },
    { name: "without colours", where: { colorLevel: 0 }, how: {} },
    { name: "when it is to be quiet", where: {}, how: { isQuiet: true } },
  ] as const)("shows nothing $name", async ({ where, how }) => {
    const { output, written } = terminal(where);
    const progress = new Progress(() => output, how);
    progress.start(() => "get");
    progress.report(3, "znodes");
    await pass(1_000);
    progress.stop();
    expect(written()).toBe("");
  });

  test("spins on a terminal that says it has no columns", async () => {
    const { output, written } = terminal({ columns: 0 });
    const progress = new Progress(() => output);
    progress.start(() => "get");
    await pass(160);
    progress.stop();
    expect(written()).toContain("get");
  });

  test("many spinners on stderr leave it as it was, and write no more each than the first", async () => {
    const { output, written } = terminal();
    const { stream } = output;
    const own = Object.getOwnPropertyDescriptor(process, "stderr");
    Object.defineProperty(process, "stderr", { configurable: true, value: stream });
    try {
      const write = stream.write;
      const progress = new Progress(() => output);
      const lengths: number[] = [];
      for (let i = 0; i < 6; i++) {
        const before = written().length;
        progress.start(() => "waiting");
        await pass(150);
        stream.write("a step\n");
        progress.stop();
        lengths.push(written().length - before);
        expect(stream.write).toBe(write);
      }
      expect(written()).toContain("waiting");
      expect(lengths).toEqual(Array(6).fill(lengths[0]));
    } finally {
      if (own) Object.defineProperty(process, "stderr", own);
    }
  });
});
