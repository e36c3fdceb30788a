import { describe, expect, test } from "vitest";
import { FrameReader } from "../../src/wire/frames.ts";
import { JuteReader, MalformedFrameError } from "../../src/wire/jute.ts";
import { cpuMs } from "../support/cpu-time.ts";

function frame(body: string | Buffer): Buffer {
  const bytes = Buffer.from(body as string);
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Every frame that is whole by now. */
function read(frames: FrameReader): string[] {
  const reader = new JuteReader();
  const found: string[] = [];
  while (frames.next(reader)) {
    let text = "";
    while (reader.remaining > 0) text += reader.boolean() ? "1" : "0";
    found.push(text);
  }
  return found;
}

const bits = (text: string) => Buffer.from([...text].map(Number));

describe("FrameReader", () => {
  test("finds several frames in one chunk, an empty one among them", () => {
    const frames = new FrameReader(100);
    frames.push(Buffer.concat([frame(bits("101")), frame(bits("")), frame(bits("0"))]));
    expect(read(frames)).toEqual(["101", "", "0"]);
    expect(read(frames)).toEqual([]);
  });

  test("puts frames together however the stream is cut", () => {
    const bodies = ["1", "", "0110", "111111111111", ""];
    const stream = Buffer.concat(bodies.map((body) => frame(bits(body))));
    for (let size = 1; size <= stream.length; size++) {
      for (const readEachTime of [true, false]) {
        const frames = new FrameReader(100);
        const found: string[] = [];
        for (let at = 0; at < stream.length; at += size) {
          frames.push(stream.subarray(at, at + size));
          if (readEachTime) found.push(...read(frames));
        }
        found.push(...read(frames));
        expect(found, `in pieces of ${size}`).toEqual(bodies);
      }
    }
  });

  test("skips empty chunks", () => {
    const frames = new FrameReader(100);
    for (const chunk of [
      Buffer.alloc(0),
      frame(bits("1")),
      Buffer.alloc(0),
      Buffer.alloc(0),
      frame(bits("0")),
    ]) {
      frames.push(chunk);
    }
    expect(read(frames)).toEqual(["1", "0"]);
  });

  test("waits for the rest of a frame", () => {
    const frames = new FrameReader(100);
    frames.push(frame(bits("11")).subarray(0, 5));
    expect(read(frames)).toEqual([]);
    frames.push(bits("1"));
    expect(read(frames)).toEqual(["11"]);
  });

  test.each([
    ["negative", "ffffffff", -1],
    ["one over the limit", "00000065", 101],
    ["huge", "7fffffff", 0x7fffffff],
  ])("refuses a %s length, whole or byte by byte", (_, length, said) => {
    const whole = new FrameReader(100);
    whole.push(Buffer.from(length, "hex"));
    expect(() => read(whole)).toThrow(`a frame of ${said} bytes`);
    const bytewise = new FrameReader(100);
    for (const byte of Buffer.from(length, "hex")) bytewise.push(Buffer.from([byte]));
    expect(() => read(bytewise)).toThrow(MalformedFrameError);
  });

  test("takes a frame as long as the limit, and a longer one when the limit is raised", () => {
    const frames = new FrameReader(100);
    frames.push(frame(Buffer.alloc(100)));
    expect(read(frames)).toEqual(["0".repeat(100)]);
    frames.maxLength = 101;
    frames.push(frame(Buffer.alloc(101)));
    expect(read(frames)).toEqual(["0".repeat(101)]);
  });

  test("reads sixteen megabytes that come in small pieces in linear time", () => {
    const body = Buffer.alloc(16 << 20, 1);
    const stream = frame(body);
    const frames = new FrameReader(body.length);
    const reader = new JuteReader();
    const start = cpuMs();
    let found = 0;
    for (let at = 0; at < stream.length; at += 1024) {
      frames.push(stream.subarray(at, at + 1024));
      if (frames.next(reader)) found++;
    }
    expect([found, reader.remaining]).toEqual([1, body.length]);
    // Copying what has come so far with every piece would take minutes.
    expect(cpuMs() - start).toBeLessThan(3_000);
  });
});
