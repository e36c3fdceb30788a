import { expect, test } from "vitest";
import { isSequentialName, kindOf, nextSequence, ttlOf } from "../../src/session/node-kind.ts";

test.each([
  { owner: 0n, kind: "persistent", ttl: undefined },
  { owner: 0x100006285b70000n, kind: "ephemeral", ttl: undefined },
  { owner: -(1n << 63n), kind: "container", ttl: undefined },
  { owner: BigInt.asIntN(64, 0xff00000000002710n), kind: "ttl", ttl: 10_000 },
])("the owner $owner is that of a $kind znode", ({ owner, kind, ttl }) => {
  expect(kindOf({ ephemeralOwner: owner })).toBe(kind);
  expect(ttlOf({ ephemeralOwner: owner })).toBe(ttl);
});

test("the next number counts creates, also of children that have gone", () => {
  expect(nextSequence({ cversion: 3, numChildren: 3 })).toBe(3);
  expect(nextSequence({ cversion: 7, numChildren: 1 })).toBe(4);
});

test.each([
  ["job-0000000001", true],
  ["0000000001", true],
  ["job--2147483648", true],
  ["job-1", false],
])("'%s' is the name of a sequential znode: %s", (name, isSequential) => {
  expect(isSequentialName(name)).toBe(isSequential);
});
