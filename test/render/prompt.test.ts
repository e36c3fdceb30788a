import { describe, expect, test } from "vitest";
import type { LockMode } from "../../src/recipes/locks/holder-record.ts";
import {
  continuationPrompt,
  elide,
  type PromptFacts,
  type PromptLock,
  renderPrompt,
} from "../../src/render/prompt.ts";
import { plainTheme, type Theme } from "../../src/render/theme.ts";

const style = { columns: 80, isUnicode: true, theme: plainTheme };
const held = (path: string, mode: LockMode = "exclusive"): PromptLock => ({ path, mode });
const calm: PromptFacts = {
  server: "zk1:2181",
  isReadOnly: false,
  locks: [],
  cwd: "/",
  hasFailed: false,
};

describe("renderPrompt", () => {
  test.each<[string, Partial<PromptFacts>, string]>([
    ["server and working znode", { cwd: "/app" }, "zksh zk1:2181 /app › "],
    ["trouble", { trouble: "suspended, 12s left" }, "zksh (suspended, 12s left) zk1:2181 / › "],
    ["read-only", { isReadOnly: true }, "zksh zk1:2181 ro / › "],
    ["a lock", { locks: [held("/deploy")] }, "zksh zk1:2181 lock:/deploy / › "],
    ["which locks are held", { locks: [held("/a"), held("/b")] }, "zksh zk1:2181 lock:/a,/b / › "],
    [
      "how each of them is held",
      {
        locks: [
          held("/db", "read"),
          held("/a"),
          held("/b"),
          held("/t", "write"),
          held("/x", "leader"),
        ],
      },
      "zksh zk1:2181 read:/db lock:/a,/b write:/t +1 / › ",
    ],
    [
      "as many locks as there is room for",
      { locks: ["/deploy/app", "/b", "/deploy/web", "/d", "/e", "/f"].map((path) => held(path)) },
      "zksh zk1:2181 lock:…/app,/b,…/web,/d,/e +1 / › ",
    ],
    [
      "the end of a long lock path",
      { locks: [held("/locks/production/kafka/brokers/topics/orders")] },
      "zksh zk1:2181 lock:/locks/…/topics/orders / › ",
    ],
    [
      "control characters in a lock path",
      { locks: [held("/a\x1b[2J")] },
      "zksh zk1:2181 lock:/a\\x1b[2J / › ",
    ],
    ["control characters", { cwd: "/a\x1b[2J" }, "zksh zk1:2181 /a\\x1b[2J › "],
  ])("shows %s", (_name, facts, wanted) => {
    expect(renderPrompt({ ...calm, ...facts }, style)).toBe(wanted);
  });

  test("marks a failure with colour", () => {
    const theme = { ...plainTheme, error: (text: string) => `<${text}>` };
    expect(renderPrompt({ ...calm, hasFailed: true }, { ...style, theme })).toBe(
      "zksh zk1:2181 / <›> ",
    );
  });

  test("paints what it shows by its meaning", () => {
    const marked = Object.keys(plainTheme).map((meaning) => [
      meaning,
      (text: string) => `<${meaning} ${text}>`,
    ]);
    const theme = Object.fromEntries(marked) as unknown as Theme;
    const facts = {
      ...calm,
      isReadOnly: true,
      locks: [held("/a"), held("/b", "read")],
      trouble: "connecting",
    };
    expect(renderPrompt(facts, { ...style, theme })).toBe(
      "zksh <error (connecting)> <server zk1:2181> <readOnly ro> <held lock:/a> <held read:/b> <path /> › ",
    );
  });

  test("fits a narrow terminal with many locks", () => {
    const locks = Array.from({ length: 50 }, (_, index) =>
      held(`/locks/a-rather-long-name-${index}`),
    );
    expect(renderPrompt({ ...calm, locks }, { ...style, columns: 40 }).length).toBeLessThanOrEqual(
      40,
    );
  });

  test("does with ASCII", () => {
    const ascii = { ...style, isUnicode: false, columns: 30 };
    expect(renderPrompt({ ...calm, cwd: "/kafka/brökers/ids" }, ascii)).toBe(
      "zksh zk1:2181 .../ids > ",
    );
    expect([continuationPrompt(style), continuationPrompt(ascii)]).toEqual(["  … ", "  ... "]);
  });
});

describe("elide", () => {
  test.each([
    ["/kafka/brokers/topics/orders", 40, "/kafka/brokers/topics/orders"],
    ["/kafka/brokers/topics/orders", 22, "/kafka/…/topics/orders"],
    ["/kafka/brokers/topics/orders", 15, "/kafka/…/orders"],
    ["/kafka/brokers/topics/orders", 9, "…/orders"],
    ["/a-very-long-name-alone", 8, "…e-alone"],
    ["/日本語/日本語", 8, "…/日本語"],
    ["/a/👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 5, "…👨‍👩‍👧‍👦👨‍👩‍👧‍👦"],
    ["/a/日本e\u0301", 4, "…本e\u0301"],
  ])("%s in %d places", (path, room, wanted) => {
    expect(elide(path, room)).toBe(wanted);
  });
});
