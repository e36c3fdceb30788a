import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { isBrokenPipe } from "../../src/io/io.ts";
import { OutputWriter } from "../../src/io/output-writer.ts";
import { memoryIo } from "../commands/memory-io.ts";

describe("OutputWriter", () => {
  test("write waits until a slow reader has taken the chunk", async () => {
    let take = () => {};
    const stream = new Writable({
      write(_chunk, _encoding, done) {
        take = done;
      },
    });
    let isTaken = false;
    const writing = new OutputWriter().write({ ...memoryIo().stdout, stream }, "x").then(() => {
      isTaken = true;
    });
    await new Promise(setImmediate);
    const before = isTaken;
    take();
    await writing;
    expect([before, isTaken]).toEqual([false, true]);
  });

  test("write rejects with EPIPE when the reader has closed the stream", async () => {
    const io = memoryIo({
      stdoutError: Object.assign(new Error("write EPIPE"), { code: "EPIPE" }),
    });
    const error = await io.writer.write(io.stdout, "x").catch((caught: unknown) => caught);
    expect([isBrokenPipe(error), isBrokenPipe(new Error("EPIPE"))]).toEqual([true, false]);
  });

  test("abandon fails the writes that no reader has taken, and no later ones", async () => {
    const writer = new OutputWriter();
    const stuck = { ...memoryIo().stdout, stream: new Writable({ write() {} }) };
    const writing = writer.write(stuck, "x").catch((reason: unknown) => reason);
    writer.abandon(60_000, "too early");
    writer.abandon(0, "given up");
    expect(await writing).toBe("given up");
    await writer.write(memoryIo().stdout, "taken");
  });
});
