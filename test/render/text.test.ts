import { describe, expect, test } from "vitest";
import type { Failure, View } from "../../src/render/renderer.ts";
import { textRenderer } from "../../src/render/text.ts";
import { createTheme, plainTheme } from "../../src/render/theme.ts";

const view: View = { isTTY: true, columns: 80, theme: plainTheme, isQuiet: false, now: () => 0 };

const failures: { name: string; failure: Partial<Failure>; text: string }[] = [
  { name: "a message", failure: {}, text: "error: no luck\n" },
  { name: "a hint", failure: { hint: "try again" }, text: "error: no luck\n  try again\n" },
  {
    name: "a stack",
    failure: { stack: "Error: no luck\n    at x" },
    text: "error: no luck\nError: no luck\n    at x\n",
  },
  {
    name: "control characters",
    failure: { message: "a\nb", hint: "\u001b" },
    text: "error: a\\x0ab\n  \\x1b\n",
  },
];

describe("textRenderer", () => {
  test.each(failures)("error: $name", ({ failure, text }) => {
    const whole = { reason: "x", message: "no luck", exitCode: 1, ...failure };
    expect(textRenderer(view).error(whole)).toBe(text);
  });

  test("escapes control characters in paths everywhere, invisible characters on a terminal only", () => {
    const result = { kind: "paths", paths: ["/a\u009b", "/b\u200b"] } as const;
    expect(textRenderer(view).result(result)).toEqual({ out: "/a\\x9b\n/b\\u200b\n" });
    expect(textRenderer({ ...view, isTTY: false }).result(result)).toEqual({
      out: "/a\\x9b\n/b\u200b\n",
    });
  });

  test("paints the word error, and the hint below it", () => {
    const theme = {
      ...plainTheme,
      error: (text: string) => `<${text}>`,
      faint: (text: string) => `(${text})`,
    };
    const failure = { reason: "x", message: "no luck", hint: "try again", exitCode: 1 };
    expect(textRenderer({ ...view, theme }).error(failure)).toBe(
      "<error:> no luck\n(  try again)\n",
    );
  });

  test("paints the word warning", () => {
    const theme = { ...plainTheme, warning: (text: string) => `<${text}>` };
    const warning = { kind: "warning", reason: "insecure-tls", message: "beware" } as const;
    expect(textRenderer({ ...view, theme }).result(warning)).toEqual({
      err: "<warning:> beware\n",
    });
  });

  test("paints the parts of a command's page", () => {
    const paint = (mark: string) => (text: string) => `${mark}${text}${mark}`;
    const theme = {
      ...plainTheme,
      heading: paint("*"),
      placeholder: paint("_"),
      command: paint("'"),
    };
    const { out } = textRenderer({ ...view, theme }).result({
      kind: "command-help",
      name: "lock",
      aliases: [],
      summary: "run a command",
      usage: "lock [-w dur] [paths...] [-- program...]",
      args: [{ term: "[paths...]", summary: "what to lock" }],
      options: [{ term: "-w, --wait-for dur", summary: "wait" }],
      examples: ["lock /a -- echo"],
    });
    expect(out).toBe(`\
*lock:* run a command

*Examples*
  'lock' /a -- echo

*Usage*
  lock [-w _dur_] [_paths_...] [-- _program_...]
  [_paths_...]          what to lock

*Options*
  -w, --wait-for _dur_  wait
`);
  });

  test("heads the sections of a page in bold where there are colours", async () => {
    const { out } = textRenderer({ ...view, theme: await createTheme(1) }).result({
      kind: "topic",
      name: "output",
      summary: "what is written",
      sections: [
        { title: "Forms", text: "Two.", rows: [{ term: "text", summary: "for people" }] },
        { text: "End." },
      ],
    });
    expect(out).toBe(
      "\u001b[1moutput:\u001b[22m what is written\n\n\u001b[1mForms\u001b[22m\nTwo.\n  text  for people\n\nEnd.\n",
    );
  });
});
