import { expect, test } from "vitest";
import { suggest } from "../../src/shell/suggest.ts";

test.each([
  { word: "--servr", like: "--server" },
  { word: "--sevrer", like: "--server" },
  { word: "--json", like: "--json" },
  { word: "gte", like: "get" },
  { word: "--jsn", like: "--json" },
  { word: "--frob", like: undefined },
  { word: "", like: undefined },
])("$word is like $like", ({ word, like }) => {
  expect(suggest(word, ["--server", "--json", "get"])).toBe(like);
});
