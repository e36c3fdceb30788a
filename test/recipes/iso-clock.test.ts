import { expect, test } from "vitest";
import { IsoClock } from "../../src/recipes/iso-clock.ts";

test("says the same as Date, within a second and from one to the next", () => {
  const clock = new IsoClock();
  const noon = Date.UTC(2026, 10, 16, 12);
  const times = [0, 7, 42, 999, 1000, 1001, 999, 59_999, 60_000, -1, -1000, 86_400_000].map(
    (more) => noon + more,
  );
  expect(times.map((ms) => clock.now(ms))).toEqual(times.map((ms) => new Date(ms).toISOString()));
});
