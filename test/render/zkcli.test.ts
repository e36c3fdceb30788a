import { describe, expect, test } from "vitest";
import type { Failure, View } from "../../src/render/renderer.ts";
import { plainTheme } from "../../src/render/theme.ts";
import { zkcliRenderer } from "../../src/render/zkcli.ts";
import { zkcliUsageList } from "../../src/render/zkcli-usage.ts";

const view: View = { isTTY: false, columns: 80, theme: plainTheme, isQuiet: false, now: () => 0 };

const stat = {
  czxid: 1n,
  mzxid: 1n,
  pzxid: 1n,
  ctime: 0,
  mtime: 0,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 0,
  numChildren: 0,
};

const failures: { failure: Partial<Failure>; text: string }[] = [
  { failure: { code: -101, path: "/p" }, text: "Node does not exist: /p" },
  { failure: { code: -110, path: "/p" }, text: "Node already exists: /p" },
  { failure: { code: -111, path: "/p" }, text: "Node not empty: /p" },
  { failure: { code: -103, path: "/p" }, text: "version No is not valid : /p" },
  { failure: { code: -102, path: "/p" }, text: "Insufficient permission : /p" },
  { failure: { code: -114, path: "/p" }, text: "Acl is not valid : /p" },
  { failure: { code: -8, path: "/" }, text: "Arguments are not valid : /" },
  { failure: { code: -108, path: "/p" }, text: "Ephemerals cannot have children: /p" },
  { failure: { code: -119, path: "/p" }, text: "Not a read-only call: /p" },
  { failure: { code: -125, path: "/p" }, text: "Quota has exceeded : /p" },
  {
    failure: { code: -14 },
    text: "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)",
  },
  { failure: { code: -4, path: "/p" }, text: "KeeperErrorCode = ConnectionLoss for /p" },
  { failure: { code: -6, path: "/p" }, text: "KeeperErrorCode = Unimplemented for /p" },
  { failure: { code: -123 }, text: "KeeperErrorCode = Reconfig is disabled" },
  { failure: { reason: "unreachable" }, text: "KeeperErrorCode = ConnectionLoss" },
  { failure: { reason: "auth-failed", path: "/" }, text: "KeeperErrorCode = AuthFailed for /" },
  {
    failure: { reason: "bad-path", message: "Path length must be > 0" },
    text: "Path length must be > 0",
  },
  { failure: { reason: "missing-argument", hint: "stat [-w] path" }, text: "stat [-w] path" },
  {
    failure: {
      reason: "unknown-command",
      message: "unknown command 'foo'",
      hint: "did you mean fo?",
    },
    text: `${zkcliUsageList()}Command not found: Command not found foo`,
  },
  {
    failure: { reason: "missing-argument", command: "get", hint: "get [-s] [-b] path" },
    text: "get [-s] [-w] path",
  },
  { failure: { reason: "not-connected" }, text: "Not connected" },
  {
    failure: { reason: "bad-duration", command: "create" },
    text: "-t argument must be a long value",
  },
  {
    failure: { code: -114, path: "/p", command: "create" },
    text: "KeeperErrorCode = InvalidACL for /p\nAcl is not valid : /p",
  },
  {
    failure: { reason: "bad-acl", message: "x does not have the form scheme:id:perm" },
    text: "x does not have the form scheme:id:perm\nAcl is not valid : null",
  },
  { failure: { code: -101, path: "/\u001b" }, text: "Node does not exist: /\\x1b" },
];

describe("zkcliRenderer", () => {
  test.each(failures)("error: $text", ({ failure, text }) => {
    const whole = { reason: "x", message: "m", exitCode: 1, ...failure };
    expect(zkcliRenderer(view).error(whole)).toBe(`${text}\n`);
  });

  test("decodes what is no text as Java does", () => {
    const data = Buffer.from("61eda08062ffed", "hex");
    const result = {
      kind: "data",
      path: "/",
      data,
      stat,
      withStat: false,
      encoding: "auto",
    } as const;
    expect(zkcliRenderer(view).result(result)).toEqual({ out: "a\ufffdb\ufffd\ufffd\n" });
  });

  test("escapes control characters in names everywhere, invisible characters on a terminal only", () => {
    const result = { kind: "children", path: "/", children: ["\u001b", "\u200b"] } as const;
    expect(zkcliRenderer(view).result(result)).toEqual({ out: "[\\x1b, \u200b]\n" });
    expect(zkcliRenderer({ ...view, isTTY: true }).result(result)).toEqual({
      out: "[\\x1b, \\u200b]\n",
    });
  });

  test("escapes stack traces", () => {
    const failure = {
      reason: "internal",
      message: "m",
      exitCode: 70,
      stack: "Error: \u001b]52;c;x\u0007\n    at f",
    };
    expect(zkcliRenderer(view).error(failure)).toBe("m\nError: \\x1b]52;c;x\\x07\n    at f\n");
  });
});
