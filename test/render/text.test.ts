import { describe, expect, test } from "vitest";
import { createColors, noColors } from "../../src/render/colors.ts";
import type { Failure, View } from "../../src/render/renderer.ts";
import { textRenderer } from "../../src/render/text.ts";

const view: View = { isTTY: true, columns: 80, colors: noColors, isQuiet: false, now: () => 0 };

const failures: { name: string; failure: Partial<Failure>; text: string }[] = [
  { name: "a message", failure: {}, text: "error: no luck\n" },
  { name: "a hint", failure: { hint: "try again" }, text: "error: no luck\n  try again\n" },
  {
    name: "a stack",
    failure: { stack: "Error: no luck\n    at x" },
    text: "error: no luck\nError: no luck\n    at x\n",
  },
  { name: "control characters", failure: { message: "a\nb", hint: "\u001b" }, text: "error: a\\x0ab\n  \\x1b\n" },
];

describe("textRenderer", () => {
  test.each(failures)("error: $name", ({ failure, text }) => {
    const whole = { reason: "x", message: "no luck", exitCode: 1, ...failure };
    expect(textRenderer(view).error(whole)).toBe(text);
  });

  test("escapes paths on a terminal only", () => {
    const result = { kind: "paths", paths: ["/a\u009b", "/b"] } as const;
    expect(textRenderer(view).result(result)).toEqual({ out: "/a\\x9b\n/b\n" });
    expect(textRenderer({ ...view, isTTY: false }).result(result)).toEqual({ out: "/a\u009b\n/b\n" });
  });

  test("heads the sections of a page in bold where there are colours", async () => {
    const { out } = textRenderer({ ...view, colors: await createColors(1) }).result({
      kind: "topic",
      name: "output",
      summary: "what is written",
      sections: [{ title: "Forms", text: "Two.", rows: [{ term: "text", summary: "for people" }] }, { text: "End." }],
    });
    expect(out).toBe("output: what is written\n\n\u001b[1mForms\u001b[22m\nTwo.\n  text  for people\n\nEnd.\n");
  });
});
