import { expect, test } from "vitest";
import { outcome } from "./run.ts";

test.each([["clear"], ["-c", "clear"], ["--json", "clear"]])(
  "clear writes nothing where there is no screen",
  async (...argv) => {
    expect(await outcome({ name: "", argv })).toEqual({ stdout: "", stderr: "", exit: 0 });
  },
);
