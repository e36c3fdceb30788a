import { execFileSync } from "node:child_process";
import { getCiphers } from "node:tls";
import { expect, test } from "vitest";
import { opensslName } from "../../src/config/cipher-suites.ts";

test("every cipher suite that Node.js and openssl both have is found by its standard name", () => {
  const lines = String(execFileSync("openssl", ["ciphers", "-stdname", "ALL:COMPLEMENTOFALL"]))
    .trim()
    .split("\n");
  const available = new Set(getCiphers());
  const pairs = lines
    .map((line) => line.split(/\s+/))
    .map(([standard = "", , name = ""]) => ({ standard, name }))
    // Java has no suites with keys that both sides know before.
    .filter(({ name }) => available.has(name.toLowerCase()) && !/PSK|SRP/.test(name));
  expect(pairs.length).toBeGreaterThan(20);
  for (const { standard, name } of pairs) {
    expect([standard, opensslName(standard)]).toEqual([standard, name]);
    expect(opensslName(standard.replace(/^TLS_(?=\w+_WITH_)/, "SSL_"))).toBe(name);
  }
});

test("a name of another form is none", () => {
  expect(opensslName("NONE")).toBeUndefined();
  expect(opensslName("TLS_KRB5_WITH_DES_CBC_SHA")).toBeUndefined();
});
