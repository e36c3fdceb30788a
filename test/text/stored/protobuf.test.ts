import { describe, expect, test } from "vitest";
import { NotOfKindError } from "../../../src/text/stored/not-of-kind.ts";
import { parseStoredProtobuf } from "../../../src/text/stored/protobuf.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { field, hbaseMetadata, message, PBUF, varint, varintField } from "./encode.ts";

const parse = (bytes: Buffer) => parseStoredProtobuf(bytes, { needsMagic: false });
const SERVER = message(field(1, "host-1"), varintField(2, 16000), varintField(3, 1700000000000));
const SERVER_FIELDS = [
  { number: 1, value: { wire: "text", value: "host-1" } },
  { number: 2, value: { wire: "varint", value: 16000n } },
  { number: 3, value: { wire: "varint", value: 1700000000000n } },
];

describe("parseStoredProtobuf", () => {
  test("reads what HBase stores: metadata, PBUF and a nested message", () => {
    const bytes = message(hbaseMetadata("master:16000"), PBUF, field(1, SERVER), varintField(2, 0));
    expect(parseStoredProtobuf(bytes, { needsMagic: true })).toEqual({
      hasMagic: true,
      writer: "master:16000",
      fields: [
        { number: 1, value: { wire: "message", fields: SERVER_FIELDS } },
        { number: 2, value: { wire: "varint", value: 0n } },
      ],
    });
  });

  test("reads fixed numbers and bytes", () => {
    const fixed = Buffer.from("0d01000000" + "11ffffffffffffffff", "hex");
    const bytes = message(fixed, field(3, Buffer.from([0x00, 0xff])));
    expect(parse(bytes).fields).toEqual([
      { number: 1, value: { wire: "fixed32", value: 1n } },
      { number: 2, value: { wire: "fixed64", value: 2n ** 64n - 1n } },
      { number: 3, value: { wire: "bytes", value: Buffer.from([0x00, 0xff]) } },
    ]);
  });

  test("takes text without control characters for text, and text with line ends too", () => {
    expect(parse(message(field(1, "hostname"), field(2, "a\nb"), field(3, ""))).fields).toEqual([
      { number: 1, value: { wire: "text", value: "hostname" } },
      { number: 2, value: { wire: "text", value: "a\nb" } },
      { number: 3, value: { wire: "text", value: "" } },
    ]);
  });

  test("a message whose only control character is the tag of its first field is a message", () => {
    const text = "a text of thirty-two characters.";
    expect(parse(field(1, field(1, text))).fields).toEqual([
      {
        number: 1,
        value: { wire: "message", fields: [{ number: 1, value: { wire: "text", value: text } }] },
      },
    ]);
  });

  test("leaves messages below the sixteenth level as bytes", () => {
    let nested = varintField(1, 1);
    for (let depth = 0; depth < 20; depth++) nested = field(1, nested);
    let { fields } = parse(nested);
    let depth = 1;
    for (let value = fields[0]?.value; value?.wire === "message"; value = fields[0]?.value) {
      fields = value.fields;
      depth += 1;
    }
    expect([depth, fields[0]?.value.wire]).toEqual([16, "bytes"]);
  });

  test.each([
    ["no data", Buffer.alloc(0), "there is no data"],
    ["a field that is cut off", SERVER.subarray(0, 5), "cannot be read to the end"],
    ["field number 0", Buffer.from([0x00, 0x01]), "cannot be read"],
    ["a group", Buffer.from([0x0b, 0x0c]), "cannot be read"],
    ["a varint of eleven bytes", Buffer.alloc(11, 0xff), "cannot be read"],
    ["a varint above 64 bits", Buffer.from(`08${"ff".repeat(9)}02`, "hex"), "cannot be read"],
    ["a length beyond the end", message(varint(10), varint(2n ** 63n)), "cannot be read"],
    ["too many fields", Buffer.alloc(200_002, Buffer.from([8, 0])), "more than 100000 fields"],
    ["more than 4 MB", field(1, Buffer.alloc(5_000_000)), "larger than 4 MB"],
  ])("refuses %s", (_, bytes, why) => {
    expect(() => parse(bytes)).toThrow(NotOfKindError);
    expect(() => parse(bytes)).toThrow(why);
  });

  test("asks for PBUF where it needs the mark", () => {
    expect(() => parseStoredProtobuf(SERVER, { needsMagic: true })).toThrow("begins with 0a 06");
    const cutOff = message(hbaseMetadata("master:16000"), PBUF).subarray(0, 8);
    expect(() => parseStoredProtobuf(cutOff, { needsMagic: true })).toThrow(NotOfKindError);
  });

  test("four megabytes of nested lengths take linear time", () => {
    let nested: Buffer = Buffer.alloc(4_000_000, 0x01);
    for (let depth = 0; depth < 16; depth++) nested = field(1, nested);
    const before = cpuMs();
    parse(nested);
    expect(cpuMs() - before).toBeLessThan(5_000);
  });
});
