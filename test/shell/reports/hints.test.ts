import { describe, expect, test } from "vitest";
import { hintFor } from "../../../src/shell/reports/hints.ts";

describe("hintFor", () => {
  test("getAcl without permission does not lead to getAcl", () => {
    expect(hintFor("getAcl", "no-auth")).toBe(
      "authenticate with --auth SCHEME:CRED, or addauth at the prompt",
    );
    expect(hintFor("get", "no-auth")).toContain("getAcl shows the permissions");
  });

  test("-s is explained only if no server was given", () => {
    expect(hintFor("get", "unreachable", { isDefaultServer: true })).toContain("-s HOSTS");
    expect(hintFor("get", "unreachable")).toBeUndefined();
  });

  test("a command whose session expired is to be typed again only at the prompt", () => {
    expect(hintFor("get", "session-expired", { isAtPrompt: true })).toContain("again");
    expect(hintFor("get", "session-expired")).toBeUndefined();
  });
});
