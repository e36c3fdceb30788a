import { describe, expect, test } from "vitest";
import { noColors } from "../../src/render/colors.ts";
import { continuationPrompt, elide, type PromptFacts, renderPrompt } from "../../src/render/prompt.ts";

const style = { columns: 80, isUnicode: true, colors: noColors };
const calm: PromptFacts = { server: "zk1:2181", isReadOnly: false, locks: [], cwd: "/", hasFailed: false };

describe("renderPrompt", () => {
  test.each<[string, Partial<PromptFacts>, string]>([
    ["server and working znode", { cwd: "/app" }, "zksh zk1:2181 /app › "],
    ["trouble", { trouble: "suspended, 12s left" }, "zksh (suspended, 12s left) zk1:2181 / › "],
    ["read-only", { isReadOnly: true }, "zksh zk1:2181 ro / › "],
    ["a lock", { locks: ["/deploy"] }, "zksh zk1:2181 lock:/deploy / › "],
    ["locks", { locks: ["/a", "/b"] }, "zksh zk1:2181 locks:2 / › "],
    ["control characters", { cwd: "/a\x1b[2J" }, "zksh zk1:2181 /a\\x1b[2J › "],
  ])("shows %s", (_name, facts, wanted) => {
    expect(renderPrompt({ ...calm, ...facts }, style)).toBe(wanted);
  });

  test("marks a failure with colour", () => {
    const colors = { ...noColors, error: (text: string) => `<${text}>` };
    expect(renderPrompt({ ...calm, hasFailed: true }, { ...style, colors })).toBe("zksh zk1:2181 / <›> ");
  });

  test("does with ASCII", () => {
    const ascii = { ...style, isUnicode: false, columns: 30 };
    expect(renderPrompt({ ...calm, cwd: "/kafka/brökers/ids" }, ascii)).toBe("zksh zk1:2181 .../ids > ");
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
  ])("%s in %d places", (path, room, wanted) => {
    expect(elide(path, room)).toBe(wanted);
  });
});
