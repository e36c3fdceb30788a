import { join } from "node:path";
import { expect, test } from "vitest";
import { parseJavaString } from "../../../src/text/stored/java-string.ts";
import { spawnJava } from "../../support/java.ts";

test("strings that a real JVM serialised are read", async () => {
  const child = spawnJava([join(import.meta.dirname, "../../fixtures/WriteStrings.java")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout ?? []) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString().trim().split("\n");
  const texts = lines.map((line) => parseJavaString(Buffer.from(line, "base64")).text);
  const long = "é".repeat(70_000);
  expect(texts).toEqual(["", "plain", "é ü 日本 😀", "a\0b", '{"brokers":[1,2]}', long]);
});
