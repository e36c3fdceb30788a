import { expect, test } from "vitest";
import { gssapiFailure } from "../../../../../src/session/zookeeper/sasl/gssapi/gssapi-failures.ts";
import type { GssapiCredentials } from "../../../../../src/session/zookeeper/sasl/gssapi/messages.ts";

const KERBEROS = 2_529_638_912;
const AT = { server: "h:2181", target: "zookeeper@h" };

test.each<[number, number, GssapiCredentials, string, string]>([
  [7, KERBEROS + 141, {}, "sasl-no-credentials", "there are no tickets"],
  [7, KERBEROS + 141, { principal: "ann" }, "sasl-no-credentials", "there are no tickets of ann"],
  [7, KERBEROS + 195, { keytab: "/k" }, "sasl-no-credentials", "no login with a key in /k"],
  [
    7,
    KERBEROS + 195,
    { keytab: "/k", principal: "ann" },
    "sasl-no-credentials",
    "no login with a key of ann in /k",
  ],
  [7, KERBEROS + 6, { keytab: "/k" }, "sasl-no-credentials", "the KDC does not know this client"],
  [7, KERBEROS + 31, { keytab: "/k" }, "sasl-no-credentials", "the KDC has another key than /k"],
  [7, KERBEROS + 24, { keytab: "/k" }, "sasl-no-credentials", "the KDC has another key than /k"],
  [11, 100_001, {}, "sasl-ticket-expired", "the ticket has expired"],
  [13, KERBEROS + 32, {}, "sasl-ticket-expired", "the ticket has expired"],
  [13, KERBEROS + 7, {}, "sasl-unknown-service", "the KDC does not know the server zookeeper@h"],
  [13, KERBEROS + 156, {}, "sasl-kdc-unreachable", "no KDC can be reached"],
  [7, KERBEROS + 154, {}, "sasl-kdc-unreachable", "no KDC can be reached"],
  [
    13,
    KERBEROS + 37,
    {},
    "sasl-failed",
    "the clocks of this machine and of the KDC differ too much",
  ],
  [13, 0, {}, "sasl-failed", "no ticket"],
])("error %i %i with %j is %s", (major, minor, credentials, reason, why) => {
  const failure = gssapiFailure({ major, minor, text: "so it says" }, { ...AT, ...credentials });
  expect(failure).toMatchObject({
    name: "PermissionError",
    reason,
    message: `cannot log in to h:2181 by Kerberos: ${why} (so it says)`,
  });
});

test("what has to be installed is named", () => {
  const text = "Cannot find module 'koffi'";
  expect(gssapiFailure({ missing: "package", text }, AT)).toMatchObject({
    reason: "sasl-package-missing",
    message: `a Kerberos login needs the package koffi, which cannot be loaded (${text})`,
  });
  expect(gssapiFailure({ missing: "library", text: "x" }, AT)).toMatchObject({
    reason: "sasl-library-missing",
    message: "a Kerberos login needs the system's GSSAPI library, which cannot be loaded (x)",
  });
});
