import { expect, test } from "vitest";
import { formatAcl, formatPerms, parseAcl } from "../../src/session/acl.ts";

test.each([
  { text: "world:anyone:r", acl: [{ scheme: "world", id: "anyone", perms: 1 }] },
  { text: "world:anyone:cdrwa", acl: [{ scheme: "world", id: "anyone", perms: 31 }] },
  { text: "auth::crdwa", acl: [{ scheme: "auth", id: "", perms: 31 }] },
  { text: "digest:u:h=:w", acl: [{ scheme: "digest", id: "u:h=", perms: 2 }] },
  {
    text: "ip:10.0.0.1:c,world:anyone:d",
    acl: [
      { scheme: "ip", id: "10.0.0.1", perms: 4 },
      { scheme: "world", id: "anyone", perms: 8 },
    ],
  },
])("$text", ({ text, acl }) => {
  expect(parseAcl(text)).toEqual(acl);
});

test.each([
  { text: "bogus", message: "bogus does not have the form scheme:id:perm" },
  { text: "world:anyone", message: "world:anyone does not have the form scheme:id:perm" },
  { text: ":id:r", message: ":id:r does not have the form scheme:id:perm" },
  { text: "world:anyone:rz", message: "Unknown perm type: z" },
  { text: "world:anyone:", message: "no permissions in ACL" },
  { text: "world:anyone:r,", message: " does not have the form scheme:id:perm" },
])("refuses $text", ({ text, message }) => {
  expect(() => parseAcl(text)).toThrow(expect.objectContaining({ message, name: "UsageError" }));
});

test("permissions are written in zkCli's order", () => {
  expect([formatPerms(31), formatPerms(1 | 2), formatPerms(4 | 16), formatPerms(0)]).toEqual([
    "cdrwa",
    "rw",
    "ca",
    "",
  ]);
  expect(parseAcl("digest:u:h=:ard").map(formatAcl)).toEqual(["digest:u:h=:dra"]);
});
