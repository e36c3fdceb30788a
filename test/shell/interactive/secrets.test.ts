import { describe, expect, test } from "vitest";
import { isRedacted, redact } from "../../../src/shell/interactive/secrets.ts";

const HASH = "xLJuIXHU1wjMGRqyBhQyQkZ1nRE=";

describe("redact", () => {
  test.each([
    ["addauth digest ann:secret", "addauth digest ann:***"],
    ["addauth digest 'ann:my secret'; ls /", "addauth digest ann:***; ls /"],
    ["ls /; addauth digest ann:a:b:c", "ls /; addauth digest ann:***"],
    ["adauth digest ann:secret", "adauth digest ann:***"],
    ["addaut custom token", "addaut custom ***"],
    ["nonsense digest ann:secret", "nonsense digest ann:***"],
    ["addWatch /digest x", "addWatch /digest x"],
    ["addauth digest ann", "addauth digest ann"],
    ["addauth custom token", "addauth custom ***"],
    ["addauth digest", "addauth digest"],
    ["setAcl -p /a digest:ann:secret:cdrwa", "setAcl -p /a digest:ann:***:cdrwa"],
    ["setAcl /a 'digest:ann:se,cret:r,world:anyone:r'", "setAcl /a digest:ann:***:r"],
    ["zksh --sasl digest:ann:secret ls /", "zksh --sasl digest:ann:*** ls /"],
    ["zksh --sasl=digest:ann:secret ls /", "zksh --sasl=digest:ann:*** ls /"],
    ["zksh --sasl digest:ann ls /", "zksh --sasl digest:ann ls /"],
    ["create /a x digest:ann:secret", "create /a x digest:ann:***"],
    [`setAcl /a digest:ann:${HASH}:cdrwa`, `setAcl /a digest:ann:${HASH}:cdrwa`],
    [
      `setAcl /a digest:ann:${HASH}:r,world:anyone:r`,
      `setAcl /a digest:ann:${HASH}:r,world:anyone:r`,
    ],
    [
      `setAcl /a digest:ann:${HASH}:r,digest:ben:pw:r`,
      `setAcl /a digest:ann:${HASH}:r,digest:ben:***:r`,
    ],
    [`setAcl /a digest:ben:pw:r,digest:ann:${HASH}:r`, "setAcl /a digest:ben:***:r"],
    ["addauth digest 'ann:never closed", "addauth digest ann:***"],
    ["n = addauth digest ann:secret", "n = addauth digest ann:***"],
    ["n = addauth custom token", "n = addauth custom ***"],
    ["addauth digest ann:secret | cat", "addauth digest ann:*** | cat"],
    ["ls / | zksh --auth digest:ann:secret ls", "ls / | zksh --auth digest:ann:*** ls"],
    ["ls /|x; ls / | zksh --auth=own:pw ls; pwd", "ls /|x; ls / | zksh --auth=own:*** ls; pwd"],
    [
      "n = get /a | zksh -c 'addauth digest ann:secret; set /b -'",
      "n = get /a | zksh -c 'addauth digest ann:***; set /b -'",
    ],
    [
      "addauth digest ann:secret | zksh --auth digest:ann:secret ls /",
      "addauth digest ann:*** | zksh --auth digest:ann:*** ls /",
    ],
    ["set /a 'x  y'", "set /a 'x  y'"],
    ["get /a | grep digest", "get /a | grep digest"],
  ])("hides the secrets of: %s", (line, wanted) => {
    expect(redact(line)).toBe(wanted);
    expect(isRedacted(redact(line))).toBe(wanted.includes("***"));
  });

  test("a star that the user typed is not taken for a redacted secret", () => {
    expect(isRedacted("set /a ***")).toBe(false);
  });
});
