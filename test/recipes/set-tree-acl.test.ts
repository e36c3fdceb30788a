import { describe, expect, test } from "vitest";
import { ConnectionError, OperationError, PermissionError } from "../../src/errors.ts";
import { setTreeAcl } from "../../src/recipes/set-tree-acl.ts";
import { StubSession } from "../commands/stub-session.ts";

const acl = [{ scheme: "world", id: "anyone", perms: 1 }];
const signal = new AbortController().signal;
const given = { "/t": "", "/t/a": "", "/t/a/b": "", "/t/c": "" };

describe("setTreeAcl", () => {
  test("lists everything before it changes anything", async () => {
    const session = new StubSession(given);
    const progress: number[] = [];
    const options = { signal, onProgress: (changed: number) => void progress.push(changed) };
    expect(await setTreeAcl(session.asSession(), "/t", acl, options)).toEqual({ changed: 4, failures: [] });
    const first = session.asked.findIndex((request) => request.startsWith("setAcl"));
    expect(session.asked.slice(first)).toEqual(["setAcl /t", "setAcl /t/a", "setAcl /t/c", "setAcl /t/a/b"]);
    expect(progress).toEqual([1, 4]);
  });

  test("goes on after a refusal, and names it once", async () => {
    const refused = new PermissionError("no-auth", "not permitted", { code: -102, path: "/t/a" });
    const session = new StubSession(given, { "/t/a": refused });
    const { changed, failures } = await setTreeAcl(session.asSession(), "/t", acl, { signal });
    expect([changed, failures]).toEqual([2, [{ path: "/t/a", error: refused }]]);
  });

  test("asks once where the server does not accept the ACL", async () => {
    const session = new StubSession(given);
    let asked = 0;
    session.setAcl = async () => {
      asked += 1;
      throw new OperationError("invalid-acl", "the ACL is not valid", { code: -114 });
    };
    await expect(setTreeAcl(session.asSession(), "/t", acl, { signal })).rejects.toThrow("the ACL is not valid");
    expect(asked).toBe(1);
  });

  test("leaves out what vanished", async () => {
    const session = new StubSession(given);
    const answer = session.setAcl.bind(session);
    session.setAcl = async (path, list, options) => {
      if (path === "/t") await session.delete("/t/c");
      return answer(path, list, options);
    };
    expect(await setTreeAcl(session.asSession(), "/t", acl, { signal })).toEqual({ changed: 3, failures: [] });
  });

  test.each([
    { name: "sets an ACL again whose answer was lost", options: {}, tries: 5 },
    { name: "does not where a version was asked for: it is another one now", options: { version: 0 }, tries: 1 },
  ])("$name", async ({ options, tries }) => {
    const session = new StubSession(given);
    const answer = session.setAcl.bind(session);
    let asked = 0;
    session.setAcl = async (...request) => {
      const stat = await answer(...request);
      if (++asked === 1) throw new ConnectionError("connection-loss", "the connection was lost");
      return stat;
    };
    const outcome = await setTreeAcl(session.asSession(), "/t", acl, { signal, ...options }).catch(String);
    const done = { changed: 4, failures: [] };
    expect([asked, outcome]).toEqual([tries, tries === 1 ? "ConnectionError: the connection was lost" : done]);
  });
});
