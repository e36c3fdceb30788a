/** What the documents say about the source is still there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const sources = ["src", "bin", "scripts", "test", "bench"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js)$/.test(name))
    .map((name) => `/${folder}/${name}`),
);
const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** Names of source files: `zookeeper/client.ts` is the end of a path, and `client.ts` too. */
function filesNamedIn(text: string): string[] {
  const names = text.match(/(?<![\w./*-])[\w][\w./-]*\.(?:ts|js)\b(?![\w.])/g) ?? [];
  return [...new Set(names)].filter((name) => !isOthers(name));
}

/** Of other projects, and names that stand for any file. */
function isOthers(name: string): boolean {
  return /^(x\.|index\.js$|Node\.js$|dist\/|lib\/|ConnectionManager)/.test(name);
}

describe("documents", () => {
  test("name files in a way that is found", () => {
    const text = "`shell/a.ts`, b-c.ts (d.js) x.test.ts `bin/e.js` no.tsx <f>.ts";
    expect(filesNamedIn(text)).toEqual(["shell/a.ts", "b-c.ts", "d.js", "bin/e.js"]);
  });

  test.each(documents)("%s names only files that exist", (document) => {
    const named = filesNamedIn(readFileSync(join(root, document), "utf8"));
    const isThere = (name: string) => sources.some((path) => path.endsWith(`/${name}`));
    expect(named.filter((name) => !isThere(name))).toEqual([]);
  });

  test.each(documents)("%s links only to files that exist", (document) => {
    const links = [
      ...readFileSync(join(root, document), "utf8").matchAll(/\]\(([^)#:\s]+)[^)]*\)/g),
    ];
    const folder = join(root, document, "..");
    const missing = links
      .map(([, link = ""]) => link)
      .filter((link) => !existsSync(join(folder, link)));
    expect(missing).toEqual([]);
  });
});
