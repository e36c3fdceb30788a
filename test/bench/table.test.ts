import { expect, test } from "vitest";
import { judge, rowFrom } from "../../bench/row.ts";
import { figureOf } from "../../bench/statistics.ts";
import { growthText, summary, verdictTable } from "../../bench/table.ts";
import { figures, takeTurns } from "../../bench/take-turns.ts";

test.each([
  { samples: [3], figure: { median: 3, low: 3, high: 3 } },
  { samples: [9, 1, 5], figure: { median: 5, low: 3, high: 7 } },
  { samples: [4, 1, 3, 2], figure: { median: 2.5, low: 1.75, high: 3.25 } },
  { samples: [], figure: { median: Number.NaN, low: Number.NaN, high: Number.NaN } },
])("the middle of $samples and its middle half", ({ samples, figure }) => {
  expect(figureOf(samples)).toEqual(figure);
});

test("a figure has one line for its own goal and one for each peer", () => {
  const verdicts = judge({
    work: "walk",
    unit: "s",
    zksh: [2, 1, 3],
    goal: { atMost: 2 },
    peers: [
      { name: "slow", samples: [40], goal: { atMost: 0.04 } },
      { name: "shown", samples: [1000] },
    ],
  });
  expect(verdictTable(verdicts)).toMatchInlineSnapshot(`
    "| work | zksh            | peer  | needs   | zksh : peer | goal   | met |
    |------|-----------------|-------|---------|-------------|--------|-----|
    | walk | 2 (1.50–2.50) s |       |         |             | ≤ 2 s  | yes |
    | walk | 2 (1.50–2.50) s | slow  | 40 s    | 0.050       | ≤ 0.04 | NO  |
    | walk | 2 (1.50–2.50) s | shown | 1,000 s | 0.0020      |        |     |"
  `);
});

test("a goal that the least possible misses too is out of reach, and still not met", () => {
  const samples = new Map([
    ["zksh", [16]],
    ["bare", [10]],
    ["fast", [12]],
    ["least", [13]],
  ]);
  const judged = (limit: string, atMost = 1.25) =>
    rowFrom(samples, { work: "start", unit: "ms", peers: { bare: { atMost, limit } } });
  const outOfReach = judge(judged("least"));
  const missed = judge(judged("fast"));
  expect(outOfReach[0]).toMatchObject({ met: false, outOfReach: { name: "least", ratio: 1.3 } });
  expect(verdictTable(outOfReach)).toContain("| NO; least 1.30 |");
  expect(missed[0]).toMatchObject({ met: false });
  expect(missed[0]).not.toHaveProperty("outOfReach");
  expect(summary(outOfReach)).toBe("every goal is met that can be; 1 out of reach");
  expect(summary([...outOfReach, ...missed])).toBe("2 missed, 1 of them out of reach");
  expect(summary(judge(judged("least", 2)))).toBe("every goal is met");
});

test("a ratio is the middle of the rounds' ratios, where both had a turn in all of them", () => {
  const ratio = (zksh: number[], samples: number[]) =>
    judge({ work: "start", unit: "ms", zksh, peers: [{ name: "peer", samples }] })[0]?.ratio;
  // Half of the rounds were on a machine of half the speed, which is nobody's merit.
  expect(ratio([2, 4, 4, 2], [1, 2, 2, 1])).toBe(2);
  expect(ratio([2, 4, 9], [1, 1, 3])).toBe(3);
  expect(ratio([2, 6, 6], [2])).toBe(3);
  expect(ratio([1], [])).toBeNaN();
});

test("without samples no goal is met", () => {
  expect(judge({ work: "nothing", unit: "s", zksh: [], goal: { atMost: 1 } })[0]?.met).toBe(false);
  expect(judge({ work: "nothing", unit: "s", zksh: [], goal: { atLeast: 1 } })[0]?.met).toBe(false);
});

test("a row has the samples of those who took turns, by name", () => {
  const samples = new Map([
    ["zksh", [{ ms: 2 }, { ms: 4 }]],
    ["slow", [{ ms: 40 }]],
    ["shown", [{ ms: 8 }]],
    ["left out", [{ ms: 1 }]],
  ]);
  const ms = figures(samples, (sample) => sample.ms);
  const [work, unit] = ["walk", "ms"];
  const slow = { name: "slow", samples: [40], goal: { atMost: 0.1 } };
  expect(rowFrom(ms, { work, unit, peers: { slow: { atMost: 0.1 }, shown: "no goal" } })).toEqual({
    work,
    unit,
    zksh: [2, 4],
    peers: [slow, { name: "shown", samples: [8] }],
  });
  expect(rowFrom(ms, { work, unit, zksh: "shown", goal: { atMost: 9 } })).toEqual({
    work,
    unit,
    zksh: [8],
    goal: { atMost: 9 },
    peers: [],
  });
});

test("a growth table shows the digits that matter", () => {
  const table = {
    title: "cost",
    columns: ["waiters", "ms", "note"],
    rows: [[1000, 0.01234, "flat"]],
  };
  expect(growthText(table)).toMatchInlineSnapshot(`
    "cost

    | waiters | ms    | note |
    |---------|-------|------|
    | 1,000   | 0.012 | flat |"
  `);
});

test("everybody has a turn in every round, unless it takes too long", async () => {
  const runner = (name: string, rounds?: number) => ({
    name,
    run: async (round: number) => round,
    ...(rounds !== undefined && { rounds }),
  });
  const samples = await takeTurns(3, [runner("a"), runner("b"), runner("c", 1)]);
  expect(Object.fromEntries(samples)).toEqual({ a: [0, 1, 2], b: [0, 1, 2], c: [0] });
});

test("everybody comes behind everybody else sooner or later", async () => {
  const order: string[] = [];
  await takeTurns(
    30,
    ["a", "b", "c", "d"].map((name) => ({ name, run: async () => order.push(name) })),
  );
  const pairs = new Set(order.map((name, index) => `${order[index - 1]}${name}`));
  for (const one of "abcd")
    for (const other of "abcd") if (one !== other) expect(pairs).toContain(one + other);
});
