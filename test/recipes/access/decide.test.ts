import { expect, test } from "vitest";
import {
  type DecisionReason,
  decide,
  decideUnseen,
  type KnownIdentities,
} from "../../../src/recipes/access/decide.ts";
import { parseAcl } from "../../../src/session/acl.ts";
import { Permission } from "../../../src/session/session.ts";

const ANN = "ann:RYbu6l5aZwqon8VWmkcGvezdzfc=";
const OTHER = "ann:AAAAAAAAAAAAAAAAAAAAAAAAAAA=";

const modern: KnownIdentities = {
  credentials: [{ scheme: "digest", id: ANN }],
  named: [
    { scheme: "ip", id: "10.1.2.3" },
    { scheme: "digest", id: "ann" },
    { scheme: "sasl", id: "ann@EXAMPLE.ORG" },
    { scheme: "x509", id: "CN=ann" },
    { scheme: "ldap", id: "ann" },
  ],
  localAddress: "192.168.0.5",
};
const old: KnownIdentities = { ...modern, named: undefined };

interface Row {
  readonly acl: string;
  readonly permission?: keyof typeof Permission;
  readonly who?: KnownIdentities;
  readonly is: boolean | undefined;
  readonly entry?: string;
  readonly why?: DecisionReason;
}

const rows: Row[] = [
  { acl: "world:anyone:r", is: true, entry: "world:anyone:r" },
  { acl: "world:anyone:wcda", is: false },
  { acl: `digest:${ANN}:r`, is: true, entry: `digest:${ANN}:r` },
  { acl: `digest:${OTHER}:r,world:anyone:w`, is: false },
  { acl: "digest:bob:x:w,world:anyone:r", permission: "write", is: false },
  { acl: "digest:ann:x:w,world:anyone:r", permission: "write", is: undefined, why: "hidden-hash" },
  { acl: "digest:ann:x:wa,world:anyone:r", permission: "write", is: false },
  { acl: "digest:ann:x:rw", is: true, why: "shown" },
  { acl: "digest:ann:x:rw", permission: "admin", is: false, why: "hidden-hashes" },
  {
    acl: "digest:ann:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:r",
    is: undefined,
    why: "other-hash",
  },
  { acl: "ip:10.1.2.3:r", is: true, entry: "ip:10.1.2.3:r" },
  { acl: "ip:10.0.0.0/8:r", is: true, entry: "ip:10.0.0.0/8:r" },
  { acl: "ip:0.0.0.0/0:r", is: true, entry: "ip:0.0.0.0/0:r" },
  { acl: "ip:192.168.0.0/16:r", is: false },
  { acl: "ip:2001:db8::1:r", is: undefined, why: "other-scheme" },
  { acl: "ip:192.168.0.0/16:r", who: old, is: true, why: "local-address" },
  { acl: "ip:10.0.0.0/8:r", who: old, is: undefined, why: "local-address" },
  {
    acl: "ip:10.0.0.0/8:r",
    who: { ...old, localAddress: undefined },
    is: undefined,
    why: "unnamed",
  },
  { acl: "sasl:ann@EXAMPLE.ORG:r", is: true, entry: "sasl:ann@EXAMPLE.ORG:r" },
  { acl: "sasl:bob:r", is: false },
  { acl: "sasl:ann@EXAMPLE.ORG:r", who: old, is: undefined, why: "unnamed" },
  { acl: "x509:CN=ann:r", is: true, entry: "x509:CN=ann:r" },
  { acl: "ldap:ann:r", is: true, entry: "ldap:ann:r" },
  { acl: "ldap:staff:r", is: undefined, why: "other-scheme" },
  { acl: "kerberos:ann:r", is: false },
  {
    acl: "ldap:staff:r,world:anyone:r",
    is: true,
    entry: "world:anyone:r",
  },
  {
    acl: "digest:bob:x:r",
    permission: "delete",
    who: { ...modern, named: [{ scheme: "super", id: "" }] },
    is: true,
    why: "super",
  },
  {
    acl: "world:anyone:r",
    permission: "write",
    who: { ...old, credentials: [{ scheme: "digest", id: "super:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }] },
    is: undefined,
    why: "unnamed",
  },
];

test.each(rows)("$acl, $permission, $why: $is", ({ acl, permission = "read", who, ...row }) => {
  const { isPermitted, entry, why } = decide(parseAcl(acl), Permission[permission], who ?? modern);
  expect({ is: isPermitted, why }).toEqual({ is: row.is, why: row.why });
  if (row.entry !== undefined) expect(entry).toEqual(parseAcl(row.entry)[0]);
});

test("an empty ACL permits everything", () => {
  expect(decide([], Permission.admin, modern)).toEqual({ isPermitted: true, why: "empty-acl" });
});

test("an ACL that is not shown permits neither read nor admin", () => {
  const answers = (["read", "write", "create", "delete", "admin"] as const).map(
    (name) => decideUnseen(Permission[name]).isPermitted,
  );
  expect(answers).toEqual([false, undefined, undefined, undefined, false]);
});
