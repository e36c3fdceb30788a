import { describe, expect, test } from "vitest";
import { jsonRenderer } from "../../src/render/json.ts";
import type { DataResult } from "../../src/results/znodes.ts";

const stat = {
  czxid: 0x1_0000_0001n,
  mzxid: 2n,
  pzxid: 3n,
  ctime: 0,
  mtime: 1500,
  version: 4,
  cversion: 5,
  aversion: 6,
  ephemeralOwner: -1n,
  dataLength: 7,
  numChildren: 8,
};

const STAT =
  '"stat":{"czxid":"0x100000001","mzxid":"0x2","pzxid":"0x3","ctime":"1970-01-01T00:00:00.000Z","ctimeMs":0,' +
  '"mtime":"1970-01-01T00:00:01.500Z","mtimeMs":1500,"version":4,"cversion":5,"aversion":6,' +
  '"ephemeralOwner":"0xffffffffffffffff","dataLength":7,"numChildren":8}';

const data: {
  name: string;
  data: Buffer | null;
  encoding: DataResult["encoding"];
  json: string;
}[] = [
  { name: "text", data: Buffer.from("é"), encoding: "auto", json: '"data":"é","encoding":"utf8"' },
  {
    name: "bytes",
    data: Buffer.from([0xff, 0]),
    encoding: "auto",
    json: '"data":"/wA=","encoding":"base64"',
  },
  { name: "none", data: null, encoding: "auto", json: '"data":null,"encoding":"utf8"' },
  {
    name: "base64",
    data: Buffer.from("a"),
    encoding: "base64",
    json: '"data":"YQ==","encoding":"base64"',
  },
  { name: "hex", data: Buffer.from("a"), encoding: "hex", json: '"data":"61","encoding":"hex"' },
];

describe("jsonRenderer", () => {
  test.each(data)("data: $name", ({ data: bytes, encoding, json }) => {
    const result = {
      kind: "data",
      path: "/a",
      data: bytes,
      stat,
      withStat: false,
      encoding,
    } as const;
    expect(jsonRenderer().result(result)).toEqual({ out: `{"path":"/a",${json},${STAT}}\n` });
  });

  test("stat has the path and the stat's fields", () => {
    expect(jsonRenderer().result({ kind: "stat", path: "/a", stat })).toEqual({
      out: `{"path":"/a",${STAT}}\n`,
    });
  });

  test("children with the parent's stat", () => {
    expect(jsonRenderer().result({ kind: "children", path: "/a", children: ["b"], stat })).toEqual({
      out: `{"path":"/a","children":["b"],${STAT}}\n`,
    });
  });

  test("an error is one object", () => {
    const failure = { reason: "usage", message: "\u009b", exitCode: 2, hint: "h", stack: "s" };
    expect(jsonRenderer().error(failure)).toBe(
      '{"error":{"reason":"usage","message":"\\u009b","exitCode":2,"hint":"h","stack":"s"}}\n',
    );
  });
});
