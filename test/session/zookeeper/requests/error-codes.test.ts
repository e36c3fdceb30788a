import { describe, expect, test } from "vitest";
import {
  ConflictError,
  DeadlineError,
  NoNodeError,
  OperationError,
} from "../../../../src/errors.ts";
import { exitCodeOf } from "../../../../src/exit-codes.ts";
import { errorName, failureOf } from "../../../../src/session/zookeeper/requests/error-codes.ts";
import { ErrorCode } from "../../../../src/wire/protocol.ts";

describe("failureOf", () => {
  test("says what happened, where, and ZooKeeper's name for it", () => {
    const error = failureOf(ErrorCode.noNode, "/a/b");
    expect(error).toBeInstanceOf(NoNodeError);
    expect(error).toMatchObject({
      name: "NoNodeError",
      message: "no such znode: /a/b (NoNode)",
      reason: "no-node",
      code: -101,
      path: "/a/b",
    });
    expect(failureOf(ErrorCode.badVersion)).toMatchObject({
      message: "the version does not match (BadVersion)",
    });
    expect(failureOf(ErrorCode.badVersion)).toBeInstanceOf(ConflictError);
    expect(failureOf(ErrorCode.badVersion).path).toBeUndefined();
  });

  test("has a row of its own for every number that it knows", () => {
    const reasons = new Set<string>();
    for (const [name, code] of Object.entries(ErrorCode)) {
      const error = failureOf(code, "/a");
      expect([name, error.reason]).not.toEqual([name, "unknown-error"]);
      expect(error.message).toBe(`${error.message.split(": /a")[0]}: /a (${errorName(code)})`);
      expect(errorName(code).toLowerCase()).toBe(name.toLowerCase());
      expect(error.code).toBe(code);
      expect(exitCodeOf(error)).not.toBe(70);
      if (!(error instanceof DeadlineError)) reasons.add(error.reason);
    }
    expect(reasons.size).toBe(Object.keys(ErrorCode).length - 2);
  });

  test.each([-9, -104, -109, -116, -117, -126, -128, -999, 7, 2_147_483_647, -2_147_483_648])(
    "makes an error of the unknown number %i",
    (code) => {
      const error = failureOf(code, "/a");
      expect(error).toBeInstanceOf(OperationError);
      expect(error).toMatchObject({
        message: `the server answered with an error unknown to zksh: /a (${code})`,
        reason: "unknown-error",
        code,
        name: "OperationError",
      });
      expect(errorName(code)).toBe(`error ${code}`);
    },
  );
});
