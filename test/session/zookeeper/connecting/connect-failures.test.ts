import { describe, expect, test } from "vitest";
import {
  connectFailureOf,
  noAnswer,
  refusedHandshake,
  strangerFailure,
} from "../../../../src/session/zookeeper/connecting/connect-failures.ts";

function errorWith(code: string, message = "text of the error"): Error {
  return Object.assign(new Error(message), { code });
}

describe("connectFailureOf", () => {
  test.each([
    ["ECONNREFUSED", "connection refused", "refused"],
    ["EHOSTUNREACH", "no route to host", "refused"],
    ["ENETUNREACH", "network unreachable", "refused"],
    ["EADDRNOTAVAIL", "address not available", "refused"],
    ["ENOTFOUND", "no such host", "permanent"],
    ["EAI_AGAIN", "the DNS server does not answer", "transient"],
    ["ECONNRESET", "the server dropped the connection", "transient"],
    ["EPIPE", "the server dropped the connection", "transient"],
    ["ETIMEDOUT", "no answer", "transient"],
    ["CERT_HAS_EXPIRED", "the server's certificate has expired", "permanent"],
    ["CERT_NOT_YET_VALID", "the server's certificate is not valid yet", "permanent"],
    ["CERT_REVOKED", "the server's certificate has been revoked", "permanent"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "the server does not speak TLS on this port", "permanent"],
    [
      "ERR_OSSL_PEM_NO_START_LINE",
      "the client certificate or its key is not in PEM form",
      "permanent",
    ],
    [
      "ERR_OSSL_X509_KEY_VALUES_MISMATCH",
      "the client key does not belong to the client certificate",
      "permanent",
    ],
  ])("explains %s", (code, says, kind) => {
    expect(connectFailureOf(errorWith(code))).toEqual({ says, kind });
  });

  test.each([
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_GET_ISSUER_CERT",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "CERT_SIGNATURE_FAILURE",
  ])("says of %s that the certificate is not trusted", (code) => {
    expect(connectFailureOf(errorWith(code))).toEqual({
      says: expect.stringMatching(/^the server's certificate is .*trusted/),
      kind: "permanent",
      tlsProblem: "untrusted-certificate",
    });
  });

  test("takes an orderly close for a server without a quorum, or with TLS", () => {
    const says = "the server closed the connection; it may have no quorum";
    expect(connectFailureOf(undefined)).toEqual({ says, kind: "transient" });
    expect(connectFailureOf(undefined, { isPlain: true })).toEqual({
      says: `${says}, or expect TLS`,
      kind: "transient",
    });
  });

  test("says which name a certificate is for", () => {
    const error = Object.assign(errorWith("ERR_TLS_CERT_ALTNAME_INVALID"), {
      reason: "IP: 10.0.0.1 is not in: ",
    });
    expect(connectFailureOf(error).says).toBe(
      "the server's certificate is for another name: IP: 10.0.0.1 is not in: ",
    );
    expect(connectFailureOf(Object.assign(error, { cert: { subjectaltname: "DNS:b" } }))).toEqual({
      says: "the server's certificate is for another name: DNS:b",
      kind: "permanent",
    });
  });

  test("tells a reset inside the TLS handshake from others", () => {
    const error = errorWith(
      "ECONNRESET",
      "Client network socket disconnected before secure TLS connection was established",
    );
    expect(connectFailureOf(error)).toEqual({
      says: "the server dropped the connection during the TLS handshake; is this its secure port?",
      kind: "transient",
    });
  });

  test.each([
    "certificate required",
    "certificate unknown",
    "certificate expired",
    "bad certificate",
    "unsupported certificate",
    "unknown ca",
    "handshake failure",
  ])("suggests a client certificate at the alert '%s'", (alert) => {
    const refusal = {
      says: `the server refused the TLS handshake (${alert}); it may require a client certificate`,
      kind: "permanent",
      tlsProblem: "client-certificate",
    };
    const message = `80AC:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert ${alert}:../rec_layer_s3.c:1601:\n`;
    const error = errorWith("ERR_SSL_TLSV13_ALERT", message);
    expect(connectFailureOf(error)).toEqual(refusal);
    expect(connectFailureOf(Object.assign(error, { reason: `tlsv13 alert ${alert}` }))).toEqual(
      refusal,
    );
  });

  test("passes on what it does not know", () => {
    expect(connectFailureOf(errorWith("EWHATEVER"))).toEqual({
      says: "text of the error",
      kind: "transient",
    });
    expect(connectFailureOf(new Error("bare"))).toEqual({ says: "bare", kind: "transient" });
    const failed = Object.assign(errorWith("ERR_SSL_WHATEVER", "1:error:../s3.c:1\n"), {
      reason: "text of the error",
    });
    expect(connectFailureOf(failed)).toEqual({
      says: "TLS failed: text of the error",
      kind: "permanent",
    });
  });
});

describe("strangerFailure", () => {
  test.each([
    ["HTTP/1.1 400 Bad Request\r\n", "not a ZooKeeper server: it answers in HTTP"],
    ["SSH-2.0-OpenSSH_9.2\r\n", "not a ZooKeeper server: it answers in SSH"],
    ["\x15\x02", "not a ZooKeeper server: it answers in another protocol"],
    ["220 mail ready", "not a ZooKeeper server: it answers in another protocol"],
    ["", "not a ZooKeeper server: it answers in another protocol"],
  ])("recognises %j", (bytes, says) => {
    expect(strangerFailure(Buffer.from(bytes, "latin1"))).toEqual({ says, kind: "permanent" });
  });

  test("recognises a TLS alert, which is no stranger's", () => {
    expect(strangerFailure(Buffer.from("15030300020246", "hex"))).toEqual({
      says: "the server expects TLS on this port",
      kind: "permanent",
      tlsProblem: "tls-expected",
    });
  });
});

test("a refused handshake and a missing answer may go better the next time", () => {
  expect(refusedHandshake(-119, "NotReadOnly")).toEqual({
    says: "the server is read-only and offers no sessions (localSessionsEnabled is off)",
    kind: "transient",
  });
  expect(refusedHandshake(-12, "UnknownSession")).toEqual({
    says: "the server refused the session (UnknownSession)",
    kind: "transient",
  });
  expect(noAnswer()).toEqual({ says: "no answer", kind: "transient" });
});
