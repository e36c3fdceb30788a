import { describe, expect, test } from "vitest";
import { ReverseSearch } from "../../../src/shell/interactive/reverse-search.ts";

const entries = ["ls /", "get /apple", "create /a", "get /APP/old"];

function typed(text: string, search = new ReverseSearch(entries, "half")): ReverseSearch {
  for (const character of text) search.press({ name: character, text: character });
  return search;
}

describe("ReverseSearch", () => {
  test("shows the newest match, then older ones, then stays", () => {
    const search = typed("get");
    expect([search.line, search.cursor]).toEqual(["get /apple", 0]);
    search.press({ name: "r", ctrl: true });
    expect(search.line).toBe("get /APP/old");
    search.press({ name: "r", ctrl: true });
    expect([search.line, search.hasFailed]).toEqual(["get /APP/old", false]);
    search.press({ name: "s", ctrl: true });
    expect(search.line).toBe("get /apple");
  });

  test("does not mind the size of letters, and keeps a match that still fits", () => {
    const search = typed("app");
    expect([search.line, search.cursor]).toEqual(["get /apple", 5]);
    expect(typed("/", search).line).toBe("get /APP/old");
  });

  test("reports when no entry matches, and recovers", () => {
    const search = typed("applez");
    expect([search.hasFailed, search.line]).toEqual([true, "half"]);
    search.press({ name: "backspace" });
    expect([search.hasFailed, search.line]).toEqual([false, "get /apple"]);
  });

  test.each([
    ["return", { name: "return", text: "\r" }, "run"],
    ["escape", { name: "escape" }, "cancel"],
    ["Ctrl-G", { name: "g", ctrl: true }, "cancel"],
    ["Ctrl-C", { name: "c", ctrl: true }, "cancel"],
    ["an arrow", { name: "right" }, "accept"],
    ["Ctrl-A", { name: "a", ctrl: true, text: "\x01" }, "accept"],
  ])("ends with %s", (_name, key, step) => {
    expect(typed("get").press(key)).toBe(step);
  });
});
