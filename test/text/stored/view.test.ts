import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { jsonView, protobufLines, viewTitle } from "../../../src/render/stored-view.ts";
import { NotOfKindError } from "../../../src/text/stored/not-of-kind.ts";
import { storedView, type ViewKind, viewAs } from "../../../src/text/stored/view.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { Random } from "../../support/random.ts";
import { field, hbaseMetadata, javaString, message, PBUF, varintField } from "./encode.ts";

const JSON_BYTES = Buffer.from('{"a":1}');
const HBASE = message(hbaseMetadata("master:16000"), PBUF, field(1, "host"), varintField(2, -1));

describe("auto", () => {
  test.each([
    ["JSON", JSON_BYTES, "json"],
    ["text", Buffer.from("plain"), "text"],
    ["no data", Buffer.alloc(0), "text"],
    ["binary data", Buffer.from([0, 1, 2]), "hex"],
    ["gzip", gzipSync(JSON_BYTES), "gzip"],
    ["a Java-serialised string", javaString("x"), "java"],
    ["what HBase stores", HBASE, "protobuf"],
    ["gzip that is cut off", gzipSync("abc").subarray(0, 15), "hex"],
    ["text that begins with P", Buffer.from("PBU"), "text"],
    ["PBUF with bad fields", message(PBUF, Buffer.from([0])), "hex"],
    ["another Java object", Buffer.from("aced000573", "hex"), "hex"],
  ])("%s is shown as it is", (_, bytes, kind) => {
    expect(viewAs("auto", bytes).kind).toBe(kind);
  });

  test("looks into gzip once", () => {
    const inside = (bytes: Buffer) => jsonView(viewAs("auto", gzipSync(bytes)));
    expect(inside(JSON_BYTES)).toEqual({ kind: "gzip", inside: { kind: "json", text: '{"a":1}' } });
    expect(inside(HBASE)).toMatchObject({ inside: { kind: "protobuf", writer: "master:16000" } });
    expect(inside(javaString("[]"))).toMatchObject({ inside: { inside: { kind: "json" } } });
    expect(inside(gzipSync("x"))).toMatchObject({ inside: { kind: "hex" } });
  });
});

test("a kind that is asked for is refused for other bytes", () => {
  for (const kind of ["json", "gzip", "java", "protobuf"] as const)
    expect(() => viewAs(kind, Buffer.from("plain"))).toThrow(NotOfKindError);
  expect(() => viewAs("json", Buffer.alloc(0))).toThrow("there is no data");
  expect(viewAs("json", Buffer.from("7")).kind).toBe("json");
  expect(viewAs("text", Buffer.from([0xff])).kind).toBe("text");
});

test("10,000 random and damaged inputs give a view or say what they are not", () => {
  const random = new Random(20_261_119);
  const kinds: readonly ViewKind[] = ["auto", "text", "json", "hex", "gzip", "java", "protobuf"];
  const nested = field(1, field(2, field(3, message(field(1, "deep"), varintField(9, 1n << 60n)))));
  const seeds = [gzipSync(HBASE), gzipSync(JSON_BYTES), javaString('{"k":"v"}'), HBASE, nested];
  const start = cpuMs();
  let refused = 0;
  for (let i = 0; i < 10_000; i++) {
    const bytes = damaged(seeds[random.index(seeds.length + 1)], random);
    const kind = kinds[random.index(kinds.length)] as ViewKind;
    try {
      const view = viewAs(kind, bytes);
      viewTitle(view);
      JSON.stringify(jsonView(view));
      if (view.kind === "protobuf") [...protobufLines(view.fields)];
    } catch (error) {
      expect(error).toBeInstanceOf(NotOfKindError);
      refused += 1;
    }
    storedView(bytes);
  }
  expect(refused).toBeGreaterThan(1_000);
  expect(cpuMs() - start).toBeLessThan(20_000);
});

/** Random bytes where there is no seed; else the seed with bytes changed, added and cut off. */
function damaged(seed: Buffer | undefined, random: Random): Buffer {
  if (seed === undefined)
    return Buffer.from(Array.from({ length: random.index(200) }, () => random.index(256)));
  const bytes = [...seed];
  for (let changes = random.index(4); changes > 0; changes--) {
    const at = random.index(bytes.length);
    if (random.chance(0.2)) bytes.splice(at, random.index(8), random.index(256));
    else bytes[at] = random.index(256);
  }
  return Buffer.from(random.chance(0.2) ? bytes.slice(0, random.index(bytes.length)) : bytes);
}
