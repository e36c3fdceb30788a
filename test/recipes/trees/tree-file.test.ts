import { describe, expect, test } from "vitest";
import {
  headerLine,
  readTreeFile,
  type TreeFileZnode,
  znodeLine,
} from "../../../src/recipes/trees/tree-file.ts";

const HEADER = {
  zksh: 1,
  from: "zk1:2181",
  path: "/a",
  at: "2026-11-18T00:00:00Z",
  zxid: "0x1",
} as const;

async function read(text: string | Buffer, chunk = 7): Promise<TreeFileZnode[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let i = 0; i < bytes.length; i += chunk) yield bytes.subarray(i, i + chunk);
  }
  const { znodes } = await readTreeFile("f", chunks());
  const all: TreeFileZnode[] = [];
  for await (const group of znodes) all.push(...group);
  return all;
}

const ZNODES: TreeFileZnode[] = [
  { path: "/a", data: null, kind: "persistent" },
  { path: "/a/ä b", data: Buffer.from('text ü\n"x"'), kind: "container", nextSequence: 7 },
  { path: "/a/bin", data: Buffer.from([255, 0, 254]), kind: "ttl", ttlMs: 10_000 },
  {
    path: "/a/x",
    data: Buffer.alloc(0),
    kind: "persistent",
    acl: [
      { scheme: "x509", id: "CN=a,OU=b", perms: 31 },
      { scheme: "digest", id: "ann:hash=", perms: 1 },
    ],
  },
];

describe("a tree file", () => {
  test.each([1, 7, 64, 100_000])(
    "is read as it was written, in chunks of %i bytes",
    async (chunk) => {
      const text = headerLine(HEADER) + ZNODES.map(znodeLine).join("");
      expect(await read(text, chunk)).toEqual(ZNODES);
    },
  );

  test("text is kept as text, and other bytes as base64", () => {
    expect(JSON.parse(znodeLine(ZNODES[1] as TreeFileZnode))).toMatchObject({ encoding: "utf8" });
    expect(JSON.parse(znodeLine(ZNODES[2] as TreeFileZnode))).toEqual({
      path: "/a/bin",
      data: "/wD+",
      encoding: "base64",
      kind: "ttl",
      ttlMs: 10_000,
    });
  });

  const line = (fields: object) =>
    `${headerLine(HEADER)}${JSON.stringify({ path: "/a/b", data: "", encoding: "utf8", kind: "persistent", ...fields })}\n`;

  test.each([
    { text: "", error: "f is empty" },
    { text: "hello\n", error: "f:1: not JSON" },
    { text: '{"a":1}\n', error: "its first line is not a header" },
    { text: '{"zksh":2,"path":"/"}\n', error: "f has format 2" },
    { text: '{"zksh":1,"path":"a"}\n', error: "f:1: Path must start with /" },
    { text: Buffer.from([255, 254, 10]), error: "f is not UTF-8" },
    { text: line({ path: 7 }), error: "f:2: no path" },
    { text: line({ path: "/b" }), error: "f:2: /b is not below /a" },
    { text: line({ path: "/a/../b" }), error: "f:2: Invalid path" },
    { text: line({ kind: "odd" }), error: 'f:2: unknown kind "odd"' },
    { text: line({ data: 5 }), error: "f:2: data is not a text" },
    { text: line({ data: "a?", encoding: "base64" }), error: "f:2: data is not base64" },
    { text: line({ encoding: "gzip" }), error: 'f:2: unknown encoding "gzip"' },
    { text: line({ acl: "open" }), error: "f:2: acl is not a list" },
    { text: line({ acl: ["world:anyone:xyz"] }), error: "f:2: Unknown perm type: x" },
    { text: line({ ttlMs: -1 }), error: "f:2: bad ttlMs" },
    { text: line({ nextSequence: 1.5 }), error: "f:2: bad nextSequence" },
  ])("is refused: $error", async ({ text, error }) => {
    await expect(read(text)).rejects.toThrow(error);
  });
});
