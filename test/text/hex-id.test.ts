import { expect, test } from "vitest";
import { hexId } from "../../src/text/hex-id.ts";

test.each([
  { id: 0n, text: "0x0" },
  { id: 0x1000a5f0000n, text: "0x1000a5f0000" },
  { id: -1n, text: "0xffffffffffffffff" },
  // A session of server 129.
  { id: BigInt.asIntN(64, 0x81000a5f00000000n), text: "0x81000a5f00000000" },
])("$id is $text", ({ id, text }) => {
  expect(hexId(id)).toBe(text);
});
