import { describe, expect, test } from "vitest";
import { JuteReader, JuteWriter } from "../../src/wire/jute.ts";
import {
  readAcl,
  readConnectResponse,
  readMultiHeader,
  readStat,
  writeConnectRequest,
  writeCreate,
  writeMultiHeader,
} from "../../src/wire/records.ts";

// The bytes are written out by hand from the protocol.

function reader(...parts: string[]): JuteReader {
  return new JuteReader(Buffer.from(parts.join("").replaceAll(" ", ""), "hex"));
}

function expectWritten(write: (writer: JuteWriter) => void, ...parts: string[]): void {
  const writer = new JuteWriter();
  write(writer);
  expect(writer.take().toString("hex")).toBe(parts.join("").replaceAll(" ", ""));
}

describe("stat", () => {
  test("comes in the wire's order", () => {
    const bytes = reader(
      "0000000100000002 0000000100000003 0000018f3a7c0001 0000018f3a7c0002",
      "00000004 00000005 00000006 f100018f3a7c0000 00000007 00000008 0000000100000009",
    );
    expect(readStat(bytes)).toEqual({
      czxid: 0x1_0000_0002n,
      mzxid: 0x1_0000_0003n,
      ctime: 0x018f_3a7c_0001,
      mtime: 0x018f_3a7c_0002,
      version: 4,
      cversion: 5,
      aversion: 6,
      ephemeralOwner: BigInt.asIntN(64, 0xf100_018f_3a7c_0000n),
      dataLength: 7,
      numChildren: 8,
      pzxid: 0x1_0000_0009n,
    });
    expect(bytes.remaining).toBe(0);
  });
});

describe("ACL", () => {
  test("is read as permissions, scheme, id", () => {
    expect(readAcl(reader("0000001f 00000005 776f726c64 00000006 616e796f6e65"))).toEqual({
      perms: 31,
      scheme: "world",
      id: "anyone",
    });
  });
});

describe("create", () => {
  const acl = [
    { perms: 31, scheme: "a", id: "" },
    { perms: 1, scheme: "b", id: "c" },
  ];
  const ACL_BYTES = "00000002 0000001f 00000001 61 00000000 00000001 00000001 62 00000001 63";

  test("writes path, data, ACL and flags", () => {
    expectWritten(
      (writer) => writeCreate(writer, "/p", Buffer.from("d"), acl, 3),
      "00000002 2f70 00000001 64",
      ACL_BYTES,
      "00000003",
    );
  });

  test("writes missing data as such, and a time to live behind the flags", () => {
    expectWritten(
      (writer) => writeCreate(writer, "/p", null, acl, 5, 0x1_0000_0001),
      "00000002 2f70 ffffffff",
      ACL_BYTES,
      "00000005 0000000100000001",
    );
  });
});

describe("handshake", () => {
  test("asks with version, zxid, timeout, session, password and the read-only flag", () => {
    const request = {
      lastZxidSeen: 0x1_0000_0002n,
      timeoutMs: 30_000,
      sessionId: -2n,
      password: Buffer.alloc(2, 7),
    };
    const head = "00000000 0000000100000002 00007530 fffffffffffffffe 00000002 0707";
    expectWritten(
      (writer) => writeConnectRequest(writer, { ...request, readOnly: true }),
      head,
      "01",
    );
    expectWritten(
      (writer) => writeConnectRequest(writer, { ...request, readOnly: false }),
      head,
      "00",
    );
  });

  test("is answered with or without a read-only flag", () => {
    const head = "00000000 00001770 0100018f3a7c0000 00000002 0707";
    const sessionId = 0x0100_018f_3a7c_0000n;
    const response = {
      protocolVersion: 0,
      timeoutMs: 6000,
      sessionId,
      password: Buffer.alloc(2, 7),
    };
    const [none, off, on] = [[], ["00"], ["01"]].map((flag) =>
      readConnectResponse(reader(head, ...flag)),
    );
    expect(none).toEqual({ ...response, readOnly: false, hasReadOnlyFlag: false });
    expect(off).toEqual({ ...response, readOnly: false, hasReadOnlyFlag: true });
    expect(on).toEqual({ ...response, readOnly: true, hasReadOnlyFlag: true });
  });

  test("may be answered without a password", () => {
    expect(
      readConnectResponse(reader("00000000 00000000 0000000000000000 ffffffff")).password,
    ).toEqual(Buffer.alloc(16));
  });
});

describe("multi header", () => {
  test("is written with the error left open, and read whole", () => {
    expectWritten((writer) => writeMultiHeader(writer, 13, false), "0000000d 00 ffffffff");
    expectWritten((writer) => writeMultiHeader(writer, -1, true), "ffffffff 01 ffffffff");
    expect(readMultiHeader(reader("ffffffff 01 ffffff9b"))).toEqual({
      type: -1,
      done: true,
      err: -101,
    });
  });
});
