import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { PatientWriter } from "../../src/io/patient-writer.ts";
import { eventually } from "../support/eventually.ts";
import { Fifo } from "../support/fifo.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

function fifoFor(context: TestContext): { fifo: Fifo; writer: PatientWriter } {
  const directory = temporaryDirectory("fifo");
  const fifo = new Fifo(join(directory, "fifo"));
  context.onTestFinished(() => {
    fifo.close();
    removeDirectory(directory);
  });
  return { fifo, writer: new PatientWriter(fifo.input) };
}

const said = (writer: PatientWriter, text: string) =>
  new Promise<void>((done) => writer.say(Buffer.from(text), () => done()));

const result = (writer: PatientWriter, text: string) =>
  new Promise<Error | null | undefined>((done) => writer.result(Buffer.from(text), done));

/** Reads again and again until the writer has nothing left. */
async function readAll(fifo: Fifo, writer: PatientWriter): Promise<string> {
  let text = "";
  await eventually(() => {
    text += fifo.read();
    return writer.isIdle;
  });
  return text + fifo.read();
}

test("data that fits into the pipe is written in the same turn", (context) => {
  const { fifo, writer } = fifoFor(context);
  let isDone = false;
  writer.say(Buffer.from("a\n"), () => {
    isDone = true;
  });
  expect([fifo.read(), isDone]).toEqual(["a\n", true]);
});

test("a message never waits for its reader, which gets it later and in order", async (context) => {
  const { fifo, writer } = fifoFor(context);
  const filled = fifo.fill();
  await said(writer, "first\n");
  expect(writer.isStuck).toBe(true);
  await Promise.all([said(writer, "second\n"), said(writer, "third\n")]);
  expect((await readAll(fifo, writer)).slice(filled)).toBe("first\nsecond\nthird\n");
  expect(writer.isStuck).toBe(false);
});

test.for([
  {
    what: "text",
    line: (n: number) => `line ${n}`,
    note: (n: number) => `(${n} lines were dropped here, because`,
  },
  {
    what: "JSON",
    line: (n: number) => `{"event":${n}}`,
    note: (n: number) => `{"event":"dropped","lines":${n}}`,
  },
])(
  "$what: the oldest of too many lines are dropped, and their number is told",
  async ({ line, note }, context) => {
    const { fifo, writer } = fifoFor(context);
    const filled = fifo.fill();
    const count = 20_000;
    for (let n = 0; n < count; n++) void said(writer, `${line(n)}\n`);
    await said(writer, `${line(count)}\n`);
    const lines = (await readAll(fifo, writer)).slice(filled).trimEnd().split("\n");
    // The first was under way already.
    expect(lines[0]).toBe(line(0));
    expect(lines.at(-1)).toBe(line(count));
    const dropped = count + 1 - (lines.length - 1);
    expect(dropped).toBeGreaterThan(count / 2);
    expect(lines[1]).toContain(note(dropped));
    expect(lines[2]).toBe(line(dropped + 1));
  },
);

test("results wait for their reader, and come whole and in order", async (context) => {
  const { fifo, writer } = fifoFor(context);
  const texts = ["a", "b", "c"].map((letter) => letter.repeat(300_000));
  let isDone = false;
  const written = Promise.all(texts.map((text) => result(writer, text))).then((errors) => {
    isDone = true;
    return errors;
  });
  // Longer than what is said would wait.
  await eventually(() => expect(writer.isStuck).toBe(true));
  expect(isDone).toBe(false);
  expect(await readAll(fifo, writer)).toBe(texts.join(""));
  expect(await written).toEqual([undefined, undefined, undefined]);
});

test("a message comes behind the result that was written before it", async (context) => {
  const { fifo, writer } = fifoFor(context);
  const long = "x".repeat(200_000);
  void result(writer, long);
  await said(writer, "behind\n");
  expect(await readAll(fifo, writer)).toBe(`${long}behind\n`);
});

test("a reader that is gone makes results fail and messages vanish", async (context) => {
  const { fifo, writer } = fifoFor(context);
  fifo.close();
  await said(writer, "a\n");
  await said(writer, "b\n");
  expect(await result(writer, "c\n")).toMatchObject({ code: "EPIPE" });
});
