import { afterEach, expect, test, vi } from "vitest";
import { ProcessTree } from "../../src/processes/process-tree.ts";

const PID = 4_711;
const row = { pid: PID, start: "1", parent: 1, group: PID, session: PID, state: "running" };
const steps: string[] = [];

vi.mock("../../src/processes/process-table.ts", () => ({
  findProcess: (pid: number) => (pid === PID ? row : undefined),
  hasInEnvironment: () => false,
  isTableOurs: () => true,
  processTable: () => {
    steps.push("table");
    return [row];
  },
}));

afterEach(() => {
  vi.restoreAllMocks();
});

test("a signal leaves for the group before the table of all processes is read", () => {
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    steps.push(`${signal} ${pid}`);
    return true;
  });
  const tree = new ProcessTree({ pid: PID, start: "1", session: PID, guard: 2, mark: "A=1" });
  expect(tree.signal("SIGKILL")).toEqual([]);
  tree.dispose();
  expect(steps.slice(0, 2)).toEqual([`SIGKILL -${PID}`, "table"]);
});
