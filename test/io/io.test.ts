import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { detectColorLevel, readAll } from "../../src/io/io.ts";

describe("detectColorLevel", () => {
  test.each([
    { env: {}, isTTY: false, level: 0 },
    { env: {}, isTTY: true, level: 1 },
    { env: { TERM: "xterm-256color" }, isTTY: true, level: 2 },
    { env: { TERM: "xterm", COLORTERM: "truecolor" }, isTTY: true, level: 3 },
    { env: { TERM: "dumb" }, isTTY: true, level: 0 },
    { env: { NO_COLOR: "1" }, isTTY: true, level: 0 },
    { env: { NO_COLOR: "" }, isTTY: true, level: 1 },
    { env: { FORCE_COLOR: "" }, isTTY: false, level: 1 },
    { env: { FORCE_COLOR: "2" }, isTTY: false, level: 2 },
    { env: { FORCE_COLOR: "3" }, isTTY: false, level: 3 },
    { env: { FORCE_COLOR: "0" }, isTTY: true, level: 0 },
    { env: { FORCE_COLOR: "false" }, isTTY: true, level: 0 },
    { env: { NO_COLOR: "1", FORCE_COLOR: "3" }, isTTY: true, level: 0 },
  ])("$env, terminal $isTTY: $level", ({ env, isTTY, level }) => {
    expect(detectColorLevel(env, isTTY)).toBe(level);
  });
});

describe("readAll", () => {
  test("reads to the end, byte for byte", async () => {
    // A character that is cut in two: chunks must not be taken for text.
    const stream = Readable.from([Buffer.from([0xc3]), Buffer.from([0xa9, 0])]);
    const bytes = await readAll({ stream, isTTY: false }, new AbortController().signal);
    expect(bytes).toEqual(Buffer.from([0xc3, 0xa9, 0]));
  });

  test("stops when aborted, and closes the stream", async () => {
    const stream = new PassThrough();
    const controller = new AbortController();
    const reading = readAll({ stream, isTTY: false }, controller.signal);
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect(stream.destroyed).toBe(true);
  });
});
