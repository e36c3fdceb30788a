import { beforeEach, expect, test, vi } from "vitest";

const clock = vi.hoisted(() => ({ monotonicMs: 0, uptime: 0 }));

vi.mock("node:os", () => ({ uptime: () => clock.uptime }));
// Another file of this worker may have loaded it with the system's clock.
vi.resetModules();
const { deadlineIn, msUntil } = await import("../../src/processes/monotonic-clock.ts");

beforeEach(() => {
  clock.monotonicMs = 5_000;
  vi.spyOn(process.hrtime, "bigint").mockImplementation(() =>
    BigInt(Math.round(clock.monotonicMs * 1e6)),
  );
});

/** Both clocks run on; the boot-time clock shows hundredths of a second, or whole ones. */
function pass(ms: number, step: number): void {
  clock.monotonicMs += ms;
  const boot = clock.monotonicMs / 1_000 + 60;
  clock.uptime = Math.floor(boot / step + 1e-9) * step;
}

test.each([
  { where: "with /proc/uptime", step: 0.01 },
  { where: "where /proc/uptime is hidden and the boot-time clock shows whole seconds", step: 1 },
])("a deadline does not pass before its time $where", ({ step }) => {
  for (let startMs = 0; startMs < 1_000; startMs += 125) {
    clock.monotonicMs = 5_000;
    pass(startMs, step);
    const deadline = deadlineIn(400);
    pass(399, step);
    expect(msUntil(deadline)).toBeCloseTo(1, 3);
    pass(1, step);
    expect(msUntil(deadline)).toBeLessThanOrEqual(0.001);
  }
});

test.runIf(process.platform === "linux")(
  "the deadline includes the time that the machine was suspended",
  () => {
    pass(0, 0.01);
    const deadline = deadlineIn(60_000);
    clock.uptime += 70;
    expect(msUntil(deadline)).toBeLessThan(0);
  },
);
