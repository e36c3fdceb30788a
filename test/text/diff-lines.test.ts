import { describe, expect, test } from "vitest";
import { diffHunks } from "../../src/text/diff-lines.ts";
import { Random } from "../support/random.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`);

function shown(left: readonly string[], right: readonly string[]): string[] {
  return diffHunks(left, right).flatMap(({ left: l, right: r, lines }) => [
    `@ ${l} ${r}`,
    ...lines.map(({ sign, text }) => sign + text),
  ]);
}

describe("diffHunks", () => {
  test("has nothing for equal texts", () => {
    expect(diffHunks(numbers(20), numbers(20))).toEqual([]);
  });

  test("shows a change with three lines around it", () => {
    const right = numbers(20).with(9, "new");
    expect(shown(numbers(20), right)).toEqual([
      "@ 7 7",
      " line 7",
      " line 8",
      " line 9",
      "-line 10",
      "+new",
      " line 11",
      " line 12",
      " line 13",
    ]);
  });

  test("changes far apart have hunks of their own, close ones share one", () => {
    const heads = (right: string[]) => shown(numbers(40), right).filter((line) => line[0] === "@");
    expect(heads(numbers(40).with(4, "a").with(30, "b"))).toEqual(["@ 2 2", "@ 28 28"]);
    expect(heads(numbers(40).with(4, "a").with(9, "b"))).toEqual(["@ 2 2"]);
  });

  test("a text that is new or gone is added or removed whole", () => {
    expect(shown([], ["a"])).toEqual(["@ 1 1", "+a"]);
    expect(shown(["a", "b"], [])).toEqual(["@ 1 1", "-a", "-b"]);
  });

  test.each([1, 2, 3, 4])("turns one text into the other when it is applied (%i)", (seed) => {
    const random = new Random(seed);
    const side = () => Array.from({ length: 60 }, () => String(random.index(6)));
    const left = side();
    const right = side();
    const result: string[] = [];
    let at = 0;
    for (const { left: from, lines } of diffHunks(left, right)) {
      result.push(...left.slice(at, from - 1));
      at = from - 1;
      for (const { sign, text } of lines) {
        if (sign !== "+") expect(left[at++]).toBe(text);
        if (sign !== "-") result.push(text);
      }
    }
    expect([...result, ...left.slice(at)]).toEqual(right);
  });
});
