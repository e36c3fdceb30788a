import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

// Kept apart: these tests show what is wrong in packages we build on, and are expected to fail the
// day it is mended.
export default defineConfig({
  test: { ...base.test, include: ["test/defects/**/*.test.ts"], exclude: [] },
});
