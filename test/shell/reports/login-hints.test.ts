import { describe, expect, test } from "vitest";
import { PermissionError } from "../../../src/errors.ts";
import type { Acl, Session } from "../../../src/session/session.ts";
import { explainDenial } from "../../../src/shell/reports/login-hints.ts";

const CONFIG = "-Djava.security.auth.login.config";
const refusal = (path: string) => new PermissionError("no-auth", "not permitted", { path });

/** A server with these ACLs; the others are not shown. */
function sessionWith(acls: Readonly<Record<string, readonly Acl[]>>): Session {
  const getAcl = async (path: string) => {
    const acl = acls[path];
    if (acl === undefined) throw refusal(path);
    return { acl };
  };
  return { getAcl } as unknown as Session;
}

describe("after NoAuth", () => {
  const entry = (scheme: string, id: string): Acl => ({ scheme, id, perms: 31 });
  const explain = (
    path: string,
    acls: Readonly<Record<string, readonly Acl[]>>,
    { command = "get", env = {} } = {},
  ) =>
    explainDenial(
      refusal(path),
      { current: async () => sessionWith(acls) },
      { command, env, isJaasUsed: false },
    );

  test.each([
    [
      [entry("sasl", "bob")],
      "sasl:bob: log in with --sasl digest:bob, or with --sasl gssapi (Kerberos)",
    ],
    [[entry("sasl", "ann@ACME.ORG")], "sasl:ann@ACME.ORG: log in with --sasl gssapi"],
    [
      [entry("sasl", "a b")],
      "sasl:a b: log in with --sasl 'digest:a b', or with --sasl gssapi (Kerberos)",
    ],
    [
      [entry("x509", "CN=web,O=Acme")],
      "x509:CN=web,O=Acme: connect with its certificate, --tls-keystore FILE or --tls-cert and --tls-key",
    ],
    [
      [entry("world", "anyone"), entry("digest", "ann:x")],
      "the digest of ann: use --auth-file FILE with digest:ann:PASSWORD, or addauth digest ann at the prompt",
    ],
    [
      [entry("digest", "ann:x"), entry("sasl", "bob")],
      "sasl:bob: log in with --sasl digest:bob, or with --sasl gssapi (Kerberos)",
    ],
  ])("a hint follows from %j", async (acl, hint) => {
    expect(await explain("/a", { "/a": acl })).toEqual({ hint: `the ACL of /a names ${hint}` });
  });

  test("a file of Java clients is named in place of the user", async () => {
    const acls = { "/a": [entry("sasl", "bob")] };
    expect(await explain("/a", acls, { env: { JVMFLAGS: `${CONFIG}=f` } })).toEqual({
      hint: "the ACL of /a names sasl:bob: log in with --jaas f (JVMFLAGS names this file)",
    });
  });

  test("delete and create are decided by the parent", async () => {
    const acls = { "/a/b": [entry("sasl", "ann")], "/a": [entry("sasl", "bob")] };
    for (const command of ["create", "delete"])
      expect(await explain("/a/b", acls, { command })).toEqual({
        hint: "the ACL of /a names sasl:bob: log in with --sasl digest:bob, or with --sasl gssapi (Kerberos)",
      });
  });

  test("says nothing where the server shows no ACL, or nobody is named", async () => {
    expect(await explain("/a", {})).toBeUndefined();
    const acls = { "/a/b": [entry("ip", "10.0.0.1")], "/a": [entry("sasl", "bob")] };
    expect(await explain("/a/b", acls)).toBeUndefined();
  });
});

describe("the file that Java clients log in with", () => {
  test.each([
    [{}, undefined],
    [{ JVMFLAGS: "-Xmx1g" }, undefined],
    [{ JVMFLAGS: `-Xmx1g ${CONFIG}=/j -Da=b` }, "--jaas /j (JVMFLAGS names this file)"],
    [{ CLIENT_JVMFLAGS: `${CONFIG}==/j` }, "--jaas /j (CLIENT_JVMFLAGS names this file)"],
    [
      { CLIENT_JVMFLAGS: `${CONFIG}="/a b"`, JVMFLAGS: `${CONFIG}=/j` },
      "--jaas '/a b' (CLIENT_JVMFLAGS names this file)",
    ],
    [
      { JVMFLAGS: `${CONFIG}=/j -Dzookeeper.sasl.clientconfig=Admin` },
      "--jaas '/j#Admin' (JVMFLAGS names this file)",
    ],
  ])("is found in %j", async (env, option) => {
    const hint = option === undefined ? undefined : { hint: `log in with ${option}` };
    for (const reason of ["sasl-required", "sasl-refused"]) {
      const error = new PermissionError(reason, "");
      const explain = (isJaasUsed: boolean) =>
        explainDenial(error, {}, { command: "get", env, isJaasUsed });
      expect(await explain(false)).toEqual(hint);
      expect(await explain(true)).toBeUndefined();
    }
  });

  test("is not named after other refusals", async () => {
    const env = { JVMFLAGS: `${CONFIG}=/j` };
    const error = new PermissionError("auth-failed", "");
    expect(
      await explainDenial(error, {}, { command: "get", env, isJaasUsed: false }),
    ).toBeUndefined();
  });
});
