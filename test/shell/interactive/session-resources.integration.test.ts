import { describe, expect, test } from "vitest";
import type { MultiOp, MultiResult, Session } from "../../../src/session/session.ts";
import { SessionResources } from "../../../src/shell/interactive/session-resources.ts";
import { StubSession } from "../../commands/stub-session.ts";
import { openFresh } from "../../support/fresh-session.ts";

const NOTHING = { ephemerals: [], watches: [] };

function tracked(given: Record<string, string> = {}): {
  ledger: SessionResources;
  session: Session;
  stub: StubSession;
} {
  const ledger = new SessionResources();
  const stub = new StubSession(given);
  return { ledger, session: ledger.track(stub.asSession()), stub };
}

describe("SessionResources", () => {
  test("names the ephemerals, by their real paths", async () => {
    const { ledger, session } = tracked();
    await session.create("/e", null, { mode: "ephemeral" });
    await session.create("/n-", null, { mode: "ephemeralSequential" });
    await session.create2("/e2", null, { mode: "ephemeral" });
    await session.create("/stays", null);
    await session.create2("/stays-too", null, { mode: "container" });
    expect(ledger.close()).toEqual({ ephemerals: ["/e", "/n-0000000001", "/e2"], watches: [] });
  });

  test("forgets what was deleted, and what was told", async () => {
    const { ledger, session } = tracked();
    await session.create("/e", null, { mode: "ephemeral" });
    await session.create("/f", null, { mode: "ephemeral" });
    await session.delete("/e");
    expect(ledger.close().ephemerals).toEqual(["/f"]);
    expect(ledger.close()).toEqual(NOTHING);
  });

  test("notes nothing that failed", async () => {
    const { ledger, session } = tracked({ "/e": "" });
    await expect(session.create("/e", null, { mode: "ephemeral" })).rejects.toThrow("exists");
    await session.create("/f", null, { mode: "ephemeral" });
    await expect(session.delete("/f", { version: 7 })).rejects.toThrow("version");
    expect(ledger.close().ephemerals).toEqual(["/f"]);
  });

  test("follows a multi on a real server", async () => {
    const ledger = new SessionResources();
    const session = ledger.track(await openFresh());
    await session.create("/old", null, { mode: "ephemeral" });
    const ops: MultiOp[] = [
      { op: "create", path: "/e", data: null, mode: "ephemeral" },
      { op: "create", path: "/n-", data: null, mode: "ephemeralSequential" },
      { op: "create", path: "/stays", data: null },
      { op: "setData", path: "/stays", data: Buffer.from("x") },
      { op: "delete", path: "/old" },
    ];
    const { results } = await session.multi(ops);
    expect(results.map(({ op }: MultiResult) => op)).toEqual(ops.map(({ op }) => op));
    expect(ledger.close().ephemerals).toEqual(["/e", "/n-0000000002"]);
  });

  test("notes nothing of a multi that failed", async () => {
    const ledger = new SessionResources();
    const session = ledger.track(await openFresh());
    await session.create("/e", null, { mode: "ephemeral" });
    await expect(
      session.multi([
        { op: "create", path: "/f", data: null, mode: "ephemeral" },
        { op: "delete", path: "/e" },
        { op: "delete", path: "/none" },
      ]),
    ).rejects.toThrow();
    expect(ledger.close().ephemerals).toEqual(["/e"]);
  });

  test("names lost watches once", () => {
    const ledger = new SessionResources();
    ledger.noteLostWatch("/a");
    ledger.noteLostWatch("/b");
    ledger.noteLostWatch("/a");
    expect(ledger.close()).toEqual({ ephemerals: [], watches: ["/a", "/b"] });
  });

  test("leaves everything else to the session", async () => {
    const { ledger, session, stub } = tracked({ "/a": "x" });
    expect(String((await session.getData("/a")).data)).toBe("x");
    expect(session.server).toBe(stub.server);
    stub.id = 5n;
    expect(session.id).toBe(5n);
    await session.close();
    expect(stub.asked.at(-1)).toBe("close");
    expect(ledger.close()).toEqual(NOTHING);
  });
});
