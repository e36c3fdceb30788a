import { describe, expect, it } from "vitest";
import {
  isServerProof,
  judgeResponse,
  MalformedDigestError,
  readChallenge,
  readDirectives,
  respond,
  writeChallenge,
} from "../../src/wire/digest-md5.ts";

const passwords: Readonly<Record<string, string>> = {
  bob: "bobsecret",
  'o"dd\\name': "s,p=a:c e",
  müller: "geheim-ß",
  日本: "パスワード",
};
const passwordOf = (name: string) => passwords[name];
const nonce = "dGhpcyBpcyBhIG5vbmNl";

describe("DIGEST-MD5", () => {
  it.each(Object.entries(passwords))(
    "logs %s in and proves the server to the client",
    (username, password) => {
      const challenge = readChallenge(writeChallenge(nonce));
      const { message, serverProof } = respond(challenge, { username, password }, "cn");
      const verdict = judgeResponse(message, nonce, passwordOf);
      expect(verdict?.username).toBe(username);
      expect(isServerProof(verdict?.message ?? Buffer.alloc(0), serverProof)).toBe(true);
    },
  );

  it("computes what an independent implementation does", () => {
    // Computed with Python's hashlib from the formulas of RFC 2831, section 2.1.2.1.
    const { message, serverProof } = respond(
      { realm: "zk-sasl-md5", nonce: "abc", isUtf8: true },
      { username: "bob", password: "bobsecret" },
      "xyz",
    );
    expect(readDirectives(message).get("response")).toBe("05bb45af15f8938a44566844032dafdd");
    expect(serverProof).toBe("86e3c57684bc2441af229396a16eeed7");
  });

  it.each([
    ["a wrong password", { username: "bob", password: "wrong" }, nonce],
    ["an unknown user", { username: "eve", password: "bobsecret" }, nonce],
    ["another server's nonce", { username: "bob", password: "bobsecret" }, "another"],
  ])("refuses %s", (_, login, theirs) => {
    const { message } = respond(readChallenge(writeChallenge(theirs)), login, "cn");
    expect(judgeResponse(message, nonce, passwordOf)).toBeUndefined();
  });

  it("does not take a wrong proof of the server", () => {
    const login = { username: "bob", password: "bobsecret" };
    const { serverProof } = respond(readChallenge(writeChallenge(nonce)), login, "cn");
    expect(isServerProof(Buffer.from(`rspauth=${"0".repeat(32)}`), serverProof)).toBe(false);
    expect(isServerProof(Buffer.from(""), serverProof)).toBe(false);
  });

  it.each([
    ["no list of directives", "hello"],
    ["an open quote", 'realm="zk,nonce=1'],
    ["two nonces", 'nonce="a",nonce="b",algorithm=md5-sess'],
    ["no nonce", "algorithm=md5-sess"],
    ["an algorithm that is not offered", 'nonce="a",algorithm=md5'],
    ["protection that is not offered", 'nonce="a",algorithm=md5-sess,qop="auth-conf"'],
    ["a message that is too long", `nonce="${"a".repeat(5_000)}",algorithm=md5-sess`],
  ])("refuses a challenge with %s", (_, text) => {
    expect(() => readChallenge(Buffer.from(text))).toThrow(MalformedDigestError);
  });

  it("reads escapes, blanks and empty list elements", () => {
    const read = readDirectives(Buffer.from('realm="a\\"b\\\\c" , ,nonce = "x,y",charset=utf-8'));
    expect([...read]).toEqual([
      ["realm", 'a"b\\c'],
      ["nonce", "x,y"],
      ["charset", "utf-8"],
    ]);
  });
});
