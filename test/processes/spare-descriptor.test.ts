import { readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { SpareDescriptor } from "../../src/processes/spare-descriptor.ts";

function spareDescriptor(): SpareDescriptor {
  const spare = new SpareDescriptor();
  onTestFinished(() => spare.close());
  return spare;
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test("work that finds no descriptor is done again with one more, which is then kept again", () => {
  const spare = spareDescriptor();
  const before = readdirSync("/proc/self/fd").length;
  const open: number[] = [];
  const work = () => {
    open.push(readdirSync("/proc/self/fd").length);
    if (open.length === 1) throw failure("EMFILE");
    return "done";
  };
  expect(spare.lend(work)).toBe("done");
  expect(open).toEqual([before, before - 1]);
  expect(readdirSync("/proc/self/fd")).toHaveLength(before);
});

test("any other failure is thrown, and so is a shortage that the spare does not end", () => {
  const spare = spareDescriptor();
  let calls = 0;
  const fail = (code: string) => () => {
    calls++;
    throw failure(code);
  };
  expect(() => spare.lend(fail("EACCES"))).toThrow("EACCES");
  expect(calls).toBe(1);
  expect(() => spare.lend(fail("ENFILE"))).toThrow("ENFILE");
  expect(calls).toBe(3);
});
