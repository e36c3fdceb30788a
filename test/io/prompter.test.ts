import { PassThrough, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { InterruptedError } from "../../src/errors.ts";
import type { Io } from "../../src/io/io.ts";
import { prompterFor } from "../../src/io/prompter.ts";
import { memoryIo } from "../commands/memory-io.ts";
import { eventually } from "../support/eventually.ts";
import { rejection } from "../support/open-session.ts";

/** A person at a terminal: answers as soon as the question is there. */
function desk() {
  let shown = "";
  const stdin = new PassThrough();
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        shown += chunk;
        done();
      },
    }),
    { isTTY: true, columns: 80 },
  );
  const io: Io = {
    ...memoryIo({ tty: true, stdin }),
    stderr: { stream, isTTY: true, columns: 80, colorLevel: 0 },
  };
  const prompter = prompterFor(io);
  if (!prompter) throw new Error("nobody is there to answer");
  const press = async (question: string, keys: string) => {
    await eventually(() => shown.includes(question));
    stdin.write(keys);
  };
  return { prompter, press, stdin, shown: () => shown };
}

const never = () => new AbortController().signal;

describe("prompterFor", () => {
  test.each(["stdin", "stdout", "stderr"] as const)(
    "asks nobody when %s is no terminal",
    (name) => {
      const io = memoryIo({ tty: true });
      expect(prompterFor({ ...io, [name]: { ...io[name], isTTY: false } })).toBeUndefined();
      expect(prompterFor(io)).toBeDefined();
    },
  );
});

describe("confirm", () => {
  test.each([
    { keys: "y\r", answer: true },
    { keys: "yes\r", answer: true },
    { keys: "n\r", answer: false },
    { keys: "\r", answer: false },
  ])("$keys is $answer", async ({ keys, answer }) => {
    const { prompter, press } = desk();
    const asked = prompter.confirm("Delete /a?", never());
    await press("Delete /a?", keys);
    expect(await asked).toBe(answer);
  });

  test("anything else is asked again", async () => {
    const { prompter, press } = desk();
    const asked = prompter.confirm("Delete /a?", never());
    await press("Delete /a?", "sure\r");
    await press("You must answer", "\u0015y\r");
    expect(await asked).toBe(true);
  });
});

describe("secret", () => {
  test("is given, and not shown", async () => {
    const { prompter, press, shown } = desk();
    const asked = prompter.secret("Password for ann", never());
    await press("Password for ann", "hush");
    await eventually(() => shown().includes("****"));
    await press("Password for ann", "\u0014\r");
    expect(await asked).toBe("hush");
    expect(shown()).not.toContain("hush");
    expect(shown()).not.toContain("visibility");
  });
});

describe("a question", () => {
  test.each([
    { name: "Ctrl-C", keys: "\u0003" },
    { name: "Ctrl-D", keys: "\u0004" },
  ])("is interrupted by $name", async ({ keys }) => {
    const { prompter, press, stdin } = desk();
    const asked = prompter.confirm("Delete /a?", never());
    await press("Delete /a?", keys);
    expect(await rejection(asked)).toBeInstanceOf(InterruptedError);
    expect(stdin.listenerCount("keypress")).toBe(0);
  });

  test("is interrupted by its signal", async () => {
    const { prompter, press } = desk();
    const controller = new AbortController();
    const asked = prompter.secret("Password", controller.signal);
    await press("Password", "hu");
    controller.abort();
    expect(await rejection(asked)).toBeInstanceOf(InterruptedError);
  });

  test("is not asked when it is too late", async () => {
    const { prompter, shown } = desk();
    const asked = prompter.confirm("Delete /a?", AbortSignal.abort(new InterruptedError()));
    expect(await rejection(asked)).toBeInstanceOf(InterruptedError);
    expect(shown()).toBe("");
  });
});
