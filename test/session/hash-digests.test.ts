import { expect, test } from "vitest";
import { formatAcl, parseAcl } from "../../src/session/acl.ts";
import { hashDigests } from "../../src/session/hash-digests.ts";

test("a digest is hashed with its user, and nothing else is", () => {
  expect(hashDigests(parseAcl("digest:bob:secret:r,ip:10.0.0.1:r")).map(formatAcl)).toEqual([
    "digest:bob:fyVmFCwVbTJYrznoSu1koqYEYF0=:r",
    "ip:10.0.0.1:r",
  ]);
  expect(() => hashDigests(parseAcl("digest:bob:r"))).toThrow(
    "the id of a digest to hash must be USER:PASSWORD",
  );
});
