import { expect, test } from "vitest";
import { prettyJson } from "../../src/render/pretty-json.ts";

test.each([
  { text: "{}", pretty: "{}" },
  { text: " [ ] ", pretty: "[]" },
  {
    text: '{"a":[1,{"b":null}],"c":""}',
    pretty: '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ],\n  "c": ""\n}',
  },
  { text: '{"a" : 1.0,\n"b":1e999}', pretty: '{\n  "a": 1.0,\n  "b": 1e999\n}' },
  { text: '["a\\"b{,}:\\u00e9"]', pretty: '[\n  "a\\"b{,}:\\u00e9"\n]' },
  { text: "[12345678901234567890]", pretty: "[\n  12345678901234567890\n]" },
  { text: "5", pretty: undefined },
  { text: '"text"', pretty: undefined },
  { text: "{a:1}", pretty: undefined },
  { text: "[1,2", pretty: undefined },
])("$text", ({ text, pretty }) => {
  expect(prettyJson(text)).toBe(pretty);
});
