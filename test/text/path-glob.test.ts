import { expect, test } from "vitest";
import { PathGlob } from "../../src/text/path-glob.ts";

test.each([
  { glob: "/kafka", path: "/kafka", covers: true, below: false },
  { glob: "/kafka", path: "/kafka/brokers/ids", covers: true, below: false },
  { glob: "/kafka", path: "/kafka2", covers: false, below: false },
  { glob: "/kafka", path: "/", covers: false, below: true },
  { glob: "/kafka/**", path: "/kafka", covers: false, below: true },
  { glob: "/kafka/**", path: "/kafka/a", covers: true, below: true },
  { glob: "/kafka/**", path: "/kafka/a/b/c", covers: true, below: true },
  { glob: "/a/**/secret", path: "/a/secret", covers: true, below: true },
  { glob: "/a/**/secret", path: "/a/b/c/secret", covers: true, below: true },
  { glob: "/a/**/secret", path: "/a/b/c/secret/key", covers: true, below: true },
  { glob: "/a/**/secret", path: "/a/b", covers: false, below: true },
  { glob: "/a/**/secret", path: "/b", covers: false, below: false },
  { glob: "/*/config", path: "/app/config", covers: true, below: false },
  { glob: "/*/config", path: "/app", covers: false, below: true },
  { glob: "/*/config", path: "/app/x", covers: false, below: false },
  { glob: "/app-[0-9]", path: "/app-7/x", covers: true, below: false },
  { glob: "/", path: "/anything", covers: true, below: false },
])("$glob and $path: covers $covers, may match below $below", ({ glob, path, covers, below }) => {
  const found = new PathGlob(glob);
  expect(found.covers(path)).toBe(covers);
  if (!covers) expect(found.mayMatchBelow(path)).toBe(below);
});
