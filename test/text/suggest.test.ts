import { expect, test } from "vitest";
import { didYouMean, suggest } from "../../src/text/suggest.ts";

test.each([
  { word: "--servr", like: "--server" },
  { word: "--sevrer", like: "--server" },
  { word: "--json", like: "--json" },
  { word: "gte", like: "get" },
  { word: "--jsn", like: "--json" },
  { word: "--frob", like: undefined },
  { word: "--rsion", like: undefined },
  { word: "GET", like: "get" },
  { word: "", like: undefined },
])("$word is like $like", ({ word, like }) => {
  expect(suggest(word, ["--server", "--json", "get"])).toBe(like);
});

test.each([
  { word: "del", hint: "did you mean one of delete, deleteall?" },
  { word: "deletall", hint: "did you mean deleteall?" },
  { word: "tree", hint: undefined },
  { word: "cp", hint: undefined },
  { word: "sat", hint: "did you mean one of set, stat?" },
])("for $word the hint is $hint", ({ word, hint }) => {
  expect(didYouMean(word, ["help", "create", "cd", "stat", "set", "deleteall", "delete"])).toBe(
    hint,
  );
});
