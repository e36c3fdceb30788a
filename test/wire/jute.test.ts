import { describe, expect, test } from "vitest";
import { JuteReader, JuteWriter, MalformedFrameError } from "../../src/wire/jute.ts";

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}

function written(write: (writer: JuteWriter) => void): string {
  const writer = new JuteWriter();
  write(writer);
  return writer.take().toString("hex");
}

function reader(text: string): JuteReader {
  return new JuteReader(hex(text));
}

describe("JuteWriter", () => {
  test.each<[string, (writer: JuteWriter) => void, string]>([
    ["an int", (w) => w.int(-2), "fffffffe"],
    ["a long", (w) => w.long(-2n), "fffffffffffffffe"],
    ["a long beyond a double", (w) => w.long(0x0100_018f_3a7c_0001n), "0100018f3a7c0001"],
    ["a true", (w) => w.boolean(true), "01"],
    ["a false", (w) => w.boolean(false), "00"],
    ["a buffer", (w) => w.buffer(Buffer.from([1, 255])), "0000000201ff"],
    ["an empty buffer", (w) => w.buffer(Buffer.alloc(0)), "00000000"],
    ["a missing buffer", (w) => w.buffer(null), "ffffffff"],
    ["an ASCII string", (w) => w.string("/a"), "000000022f61"],
    [
      "a string of one to four bytes a character",
      (w) => w.string("aé€😀"),
      "0000000a61c3a9e282acf09f9880",
    ],
    ["an empty string", (w) => w.string(""), "00000000"],
    ["a missing string", (w) => w.string(null), "ffffffff"],
    [
      "a vector",
      (w) => w.vector(["a", "b"], (item) => w.string(item)),
      "00000002 00000001 61 00000001 62",
    ],
    ["an empty vector", (w) => w.vector([], () => w.int(1)), "00000000"],
  ])("writes %s", (_, write, bytes) => {
    expect(written(write)).toBe(bytes.replaceAll(" ", ""));
  });

  test("puts the length before each of several frames", () => {
    const bytes = written((writer) => {
      for (const value of [1, 2]) {
        const frame = writer.beginFrame();
        writer.int(value);
        if (value === 2) writer.boolean(true);
        writer.endFrame(frame);
      }
    });
    expect(bytes).toBe("00000004000000010000000500000002" + "01");
  });

  test("grows with what is written, in the middle of a frame too", () => {
    const data = Buffer.alloc(3_000_000, 0x61);
    const writer = new JuteWriter();
    const frame = writer.beginFrame();
    writer.int(7);
    writer.buffer(data);
    writer.string("é".repeat(10_000));
    writer.endFrame(frame);
    const bytes = writer.take();
    expect(bytes.length).toBe(4 + 4 + 4 + data.length + 4 + 20_000);
    expect(bytes.readInt32BE(0)).toBe(bytes.length - 4);
    expect(bytes.subarray(12, 12 + data.length).equals(data)).toBe(true);
    expect(bytes.subarray(-20_000).toString()).toBe("é".repeat(10_000));
  });

  test("makes room for the longest form of a string", () => {
    const text = "€".repeat(2_000);
    const bytes = written((writer) => writer.string(text));
    expect(Buffer.from(bytes, "hex").subarray(4).toString()).toBe(text);
  });

  test("hands out bytes that later writes leave alone, and starts afresh", () => {
    const writer = new JuteWriter();
    writer.int(1);
    const first = writer.take();
    expect(writer.length).toBe(0);
    writer.int(2);
    expect(writer.length).toBe(4);
    expect([first, writer.take(), writer.take()].map((bytes) => bytes.toString("hex"))).toEqual([
      "00000001",
      "00000002",
      "",
    ]);
  });
});

describe("JuteReader", () => {
  test("reads one value after the other and knows what is left", () => {
    const bytes = reader("fffffffe 0100018f3a7c0001 01 00000002 01ff 00000003 e282ac");
    expect([bytes.int(), bytes.long(), bytes.boolean()]).toEqual([
      -2,
      0x0100_018f_3a7c_0001n,
      true,
    ]);
    expect(bytes.buffer()).toEqual(Buffer.from([1, 255]));
    expect(bytes.remaining).toBe(7);
    expect(bytes.string()).toBe("€");
    expect(bytes.remaining).toBe(0);
  });

  test.each([
    ["0000018f3a7c0001", 0x018f_3a7c_0001],
    ["00000000ffffffff", 0xffff_ffff],
    ["ffffffffffffffff", -1],
    ["001fffffffffffff", Number.MAX_SAFE_INTEGER],
  ])("reads %s as the time %d", (bytes, time) => {
    expect(reader(bytes).time()).toBe(time);
  });

  test("tells missing strings and buffers from empty ones", () => {
    expect([reader("ffffffff").string(), reader("00000000").string()]).toEqual([null, ""]);
    expect([reader("ffffffff").buffer(), reader("00000000").buffer()]).toEqual([
      null,
      Buffer.alloc(0),
    ]);
    expect(() => reader("ffffffff").text()).toThrow("a string is missing");
  });

  test("takes a missing vector for an empty one", () => {
    const bytes = reader("ffffffff 00000002 00000001 00000002");
    expect(bytes.vector(() => bytes.int())).toEqual([]);
    expect(bytes.vector(() => bytes.int())).toEqual([1, 2]);
  });

  test.each<[string, string, (reader: JuteReader) => unknown]>([
    ["an int of three bytes", "000000", (r) => r.int()],
    ["a long of seven bytes", "00000000000000", (r) => r.long()],
    ["a time of seven bytes", "00000000000000", (r) => r.time()],
    ["a boolean of none", "", (r) => r.boolean()],
    ["a string longer than the frame", "00000003 6161", (r) => r.string()],
    ["a string of negative length", "fffffffe 6161", (r) => r.string()],
    ["a buffer longer than the frame", "7fffffff 6161", (r) => r.buffer()],
    ["a buffer of negative length", "80000000 6161", (r) => r.buffer()],
    ["a vector of more items than bytes", "7fffffff 00000000", (r) => r.vector(() => r.int())],
    ["a vector that ends early", "00000002 00000001 61", (r) => r.vector(() => r.text())],
    ["a vector of negative count", "fffffff9 00000000", (r) => r.vector(() => r.int())],
  ])("refuses %s", (_, bytes, read) => {
    expect(() => read(reader(bytes))).toThrow(MalformedFrameError);
  });

  test("believes no count that the frame has no room for", () => {
    const bytes = reader("7fffffff 00000000");
    expect(() => bytes.vector(() => bytes.int())).toThrow("a vector of 2147483647 in 4 bytes");
  });

  test("does not read beyond its frame, though the chunk goes on", () => {
    const bytes = new JuteReader(hex("00000001 00000002 00000003"), 4, 8);
    expect(bytes.int()).toBe(2);
    expect(() => bytes.int()).toThrow("4 bytes wanted, 0 left");
    bytes.reset(hex("0000000a 0000000b"), 0, 4);
    expect([bytes.int(), bytes.remaining]).toEqual([10, 0]);
  });

  test.each([
    { length: 4_095, of: 5_000, isCopied: true },
    { length: 4_096, of: 5_000, isCopied: false },
    { length: 49_999, of: 100_000, isCopied: true },
    { length: 50_000, of: 100_000, isCopied: false },
  ])(
    "copies short data out of the chunk, leaves long data in it: $length of $of bytes",
    ({ length, of, isCopied }) => {
      const chunk = Buffer.alloc(of);
      chunk.writeInt32BE(length, 0);
      const data = new JuteReader(chunk).buffer();
      chunk.fill(1);
      expect([data?.length, data?.[0]]).toEqual([length, isCopied ? 0 : 1]);
    },
  );
});
