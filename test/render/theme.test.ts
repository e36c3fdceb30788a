import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { renderPrompt } from "../../src/render/prompt.ts";
import type { View } from "../../src/render/renderer.ts";
import { textRenderer } from "../../src/render/text.ts";
import { createTheme, plainTheme, type Theme } from "../../src/render/theme.ts";
import type { Result } from "../../src/results/result.ts";
import type { Stat } from "../../src/session/session.ts";

const SGR = new RegExp(`${String.fromCharCode(27)}\\[([\\d;]*)m`, "g");
/** Bold, dim, underlined, inverse; red, green, magenta, cyan; and the ends of each. */
const ALLOWED = [1, 2, 4, 7, 31, 32, 35, 36, 22, 24, 27, 39];
const meanings = Object.keys(plainTheme) as (keyof Theme)[];

/** The numbers of all SGR sequences; whatever else is in the text stays in `rest`. */
function sgr(text: string): { codes: number[]; rest: string } {
  const codes = [...text.matchAll(SGR)].flatMap(([, list = ""]) => list.split(";").map(Number));
  return { codes, rest: text.replace(SGR, "") };
}

describe.each([1, 2, 3] as const)("with colour level %d", (level) => {
  test.each(meanings)(
    "%s is one of the 16 colours, and readable on black and on white",
    async (meaning) => {
      const { codes, rest } = sgr((await createTheme(level))[meaning]("text"));
      expect(rest).toBe("text");
      for (const code of codes) expect(ALLOWED).toContain(code);
      // Bold is shown as bright by many terminals, and bright green and cyan cannot be read on white.
      if (codes.includes(32) || codes.includes(36)) expect(codes).not.toContain(1);
    },
  );
});

test("what has no colours says the same", async () => {
  const theme = await createTheme(1);
  expect(await createTheme(0)).toBe(plainTheme);
  for (const meaning of meanings) {
    expect(stripVTControlCharacters(theme[meaning]("text"))).toBe(plainTheme[meaning]("text"));
  }
});

const view: View = {
  isTTY: true,
  columns: 80,
  theme: plainTheme,
  isQuiet: false,
  now: () => 90_000,
};
const ids = { czxid: 1n, mzxid: 1n, pzxid: 1n, ephemeralOwner: 0n };
const stat: Stat = {
  ...ids,
  version: 3,
  cversion: 0,
  aversion: 0,
  dataLength: 4_096,
  numChildren: 2,
  ctime: 0,
  mtime: 9,
};
const json = Buffer.from('{"key": ["\u202e", 1, -2e3, true, null, {}]}');
const data = {
  kind: "data",
  path: "/a",
  data: json,
  stat,
  withStat: true,
  encoding: "auto",
} as const;
const childStats = new Map([
  ["parent", stat],
  ["mine", { ...stat, ephemeralOwner: 5n, numChildren: 0 }],
]);

const results: Record<string, Result> = {
  get: data,
  "get of no data": { ...data, data: null },
  "get of a long text": { ...data, data: Buffer.from(JSON.stringify(Array(9_000).fill("a"))) },
  ls: { kind: "children", path: "/", children: ["mine", "parent", "plain"], childStats },
  "ls of no children": { kind: "children", path: "/", children: [] },
  watch: {
    kind: "watched",
    event: "changed",
    path: "/a",
    data: json,
    stat,
    at: 0,
  } as unknown as Result,
  warning: { kind: "warning", reason: "insecure-tls", message: "beware" },
  help: {
    kind: "help",
    groups: [{ title: "Znodes", rows: [{ term: "get", summary: "" }] }],
    topics: [],
    aliases: [],
  },
};

test.each(Object.entries(results))(
  "%s says the same without colours, and has no more than 16",
  async (_name, result) => {
    const text = (theme: Theme) => {
      const { out = "", err = "" } = textRenderer({ ...view, theme }).result(result);
      return `${out}${err}`;
    };
    const { codes, rest } = sgr(text(await createTheme(3)));
    expect(codes.length).toBeGreaterThan(0);
    for (const code of codes) expect(ALLOWED).toContain(code);
    expect(rest).toBe(text(plainTheme));
  },
);

test("errors and the prompt say the same without colours", async () => {
  const theme = await createTheme(3);
  const failure = { reason: "x", message: "no luck", hint: "try again", exitCode: 1 };
  const error = (of: Theme) => textRenderer({ ...view, theme: of }).error(failure);
  expect(sgr(error(theme)).rest).toBe(error(plainTheme));
  const locks = [{ path: "/a", mode: "exclusive" as const }];
  const facts = {
    server: "zk1:2181",
    isReadOnly: true,
    locks,
    cwd: "/",
    hasFailed: true,
    trouble: "connecting",
  };
  const prompt = (of: Theme) => renderPrompt(facts, { columns: 80, isUnicode: true, theme: of });
  expect(sgr(prompt(theme)).rest).toBe(prompt(plainTheme));
});
