import { describe, expect, test } from "vitest";
import { LockError } from "../../../src/errors.ts";
import { encodeLimit, mustRecordLimit } from "../../../src/recipes/locks/semaphore-limit.ts";
import { hintFor } from "../../../src/shell/reports/hints.ts";

describe("hintFor", () => {
  test("getAcl without permission does not lead to getAcl", () => {
    expect(hintFor("getAcl", "no-auth")).toBe(
      "authenticate with --auth SCHEME:CRED, or addauth at the prompt, or log in with --sasl digest:USER or --sasl gssapi",
    );
    expect(hintFor("get", "no-auth")).toContain("getAcl shows the permissions");
  });

  test("-s is explained only if no server was given", () => {
    expect(hintFor("get", "unreachable", { isDefaultServer: true })).toContain("-s HOSTS");
    expect(hintFor("get", "unreachable")).toBeUndefined();
  });

  test("a server with a TLS problem leads to the option for it, before any other hint", () => {
    const untrusted = { isDefaultServer: true, tlsProblem: "untrusted-certificate" } as const;
    expect(hintFor("get", "unreachable", untrusted)).toContain("--tls-ca FILE");
    expect(hintFor("get", "unreachable", { tlsProblem: "tls-expected" })).toContain("use --tls,");
  });

  test.each([
    {
      tlsProblem: "untrusted-certificate",
      tlsFiles: { trust: "t.jks" },
      hint: "the CA of the server is not in t.jks: add it there, or name another file",
    },
    {
      tlsProblem: "client-certificate",
      tlsFiles: { own: "c.p12" },
      hint: "the server may not trust the CA of the certificate in c.p12, or the certificate has expired",
    },
    {
      tlsProblem: "client-certificate",
      tlsFiles: { trust: "t.jks" },
      hint: "present a certificate with --tls-keystore FILE, or with --tls-cert and --tls-key",
    },
  ] as const)("a TLS problem names the file: $hint", ({ hint, ...details }) => {
    expect(hintFor("get", "unreachable", details)).toBe(hint);
  });

  test("a command whose session expired is to be typed again only at the prompt", () => {
    expect(hintFor("get", "session-expired", { isAtPrompt: true })).toContain("again");
    expect(hintFor("get", "session-expired")).toBeUndefined();
  });

  test("names the recorded limit of a semaphore", () => {
    const error = rejectedLimit();
    expect(error).toMatchObject({ reason: "limit-mismatch", recordedLimit: 3, hint: undefined });
    expect(hintFor("sem", error.reason, { recordedLimit: error.recordedLimit })).toBe(
      "use --limit 3, or replace the limit with --set-limit",
    );
  });

  test.each([
    ["create", "not-a-hash", "or --hash-digests with digest:USER:PASSWORD:PERMS"],
    ["lock", "not-a-unique-lock", "leave out --recipe unique: the tickets of a queue lock are"],
    ["revoke", "ticket-changing", "try again, or take the lock away with --force"],
    ["get", "connection-loss", "or the network failed; --debug shows the connections"],
  ])("%s: %s has a hint with an option", (command, reason, hint) => {
    expect(hintFor(command, reason)).toContain(hint);
  });
});

function rejectedLimit(): LockError {
  try {
    mustRecordLimit(encodeLimit(3), { path: "/s", limit: 2 }, false);
  } catch (error) {
    if (error instanceof LockError) return error;
    throw error;
  }
  throw new Error("another limit was accepted");
}
