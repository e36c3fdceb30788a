import { expect, test } from "vitest";
import { isProtectedPath, isSystemPath } from "../../src/session/system-path.ts";

test.each([
  { path: "/", isSystem: false, isProtected: true },
  { path: "/zookeeper", isSystem: true, isProtected: true },
  { path: "/zookeeper/quota/app", isSystem: true, isProtected: true },
  { path: "/zookeepers", isSystem: false, isProtected: false },
  { path: "/app/zookeeper", isSystem: false, isProtected: false },
])("$path", ({ path, isSystem, isProtected }) => {
  expect(isSystemPath(path)).toBe(isSystem);
  expect(isProtectedPath(path)).toBe(isProtected);
});
