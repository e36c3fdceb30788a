import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseProperties } from "../../src/config/java-properties.ts";
import { spawnJava } from "../support/java.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

const directory = temporaryDirectory("properties");
afterAll(() => removeDirectory(directory));

const texts = [
  "",
  "a=b\nc=d",
  "a = b \nc:d\ne f\ng   :   h\ni\tj",
  "# comment\n! comment \\\na=b\n   # indented\n\n \t\f\n",
  "a=b\\\n   c\\\n\td\ne=f",
  "a=b\\\\\nc=d\\\\\\\n  e",
  "a=tr\\\nue",
  "a\\=b=c\\=d\na\\:b:c\na\\ b c d",
  "a=\\t\\n\\r\\f\\x\\u0041\\u00e9",
  "a\nb=\nc:\nd ",
  "a==b\nc=:d\ne : = f",
  "a=b\na=c",
  "a=b\\",
  "a=b\\\n",
  "a=b\\\n\nc=d",
  "a=b\\\n# no comment\nc=d",
  "a=b\r\nc=d\re=f\n",
  " \t a=b\n\\ a=b",
  "=b\n:c",
  "zookeeper.client.secure : TRUE \\\n",
  "é=ü",
];

test("properties are read as java.util.Properties reads them", async () => {
  const files = texts.map((text, index) => {
    const file = join(directory, `${index}.properties`);
    writeFileSync(file, text);
    return file;
  });
  const java = await readByJava(files);
  const ours = texts.map((text) => [...new Map(parseProperties(text))].sort(byName));
  expect(ours).toEqual(java);
});

async function readByJava(files: readonly string[]): Promise<[string, string][][]> {
  const child = spawnJava(
    [join(import.meta.dirname, "../fixtures/ReadProperties.java"), ...files],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout ?? []) chunks.push(chunk);
  const decode = (text = "") => Buffer.from(text.slice(1), "base64").toString();
  const [, ...found] = Buffer.concat(chunks).toString().split("-\n");
  return found.map((lines) =>
    lines
      .split("\n")
      .filter(Boolean)
      .map((line): [string, string] => {
        const [name, value] = line.split(" ");
        return [decode(name), decode(value)];
      })
      .sort(byName),
  );
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
