import { describe, expect, test } from "vitest";
import { decodeRecord, encodeRecord, type HolderRecord } from "../../../src/recipes/locks/holder-record.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import { UniqueLock } from "../../../src/recipes/locks/unique-lock.ts";
import { openFor } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";

const KIB = 1024;
const SHORT: HolderRecord = { v: 1, tool: "zksh/0.1.0", who: "ann@web3", host: "web3", pid: 4711, cmd: "deploy.sh" };

describe("a record is at most 1 KiB long", () => {
  test("and whole where it can be", () => {
    const record = { ...SHORT, why: "x".repeat(800) };
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
  });

  test.each([
    { what: "letters", why: "x".repeat(2_000_000) },
    { what: "three bytes each", why: "☃".repeat(3_000) },
    { what: "surrogates", why: "😀".repeat(3_000) },
    { what: "surrogates, by one off", why: `x${"😀".repeat(3_000)}` },
    { what: "six bytes each as JSON", why: "\u0001".repeat(3_000) },
  ])("by cutting a text of $what", ({ why }) => {
    const bytes = encodeRecord({ ...SHORT, why });
    expect(bytes.length).toBeLessThanOrEqual(KIB);
    // As much as there is room for.
    expect(bytes.length).toBeGreaterThan(0.85 * KIB);
    const { why: kept = "", ...rest } = decodeRecord(bytes) ?? SHORT;
    expect(rest).toEqual(SHORT);
    expect(kept).not.toMatch(/\p{Surrogate}/u);
    expect([why.startsWith(kept.slice(0, -1)), kept.at(-1)]).toEqual([true, "…"]);
  });

  test("by cutting the longest texts, those of a request too", () => {
    const long = "y".repeat(5_000);
    const request = { by: "bob@web4", at: "2026-11-16T20:05:09.000Z", reason: long };
    const bytes = encodeRecord({ ...SHORT, cmd: long, why: long, revoke: request });
    expect(bytes.length).toBeLessThanOrEqual(KIB);
    const { cmd = "", why = "", revoke, ...rest } = decodeRecord(bytes) ?? SHORT;
    expect(rest).toEqual({ v: 1, tool: SHORT.tool, who: SHORT.who, host: SHORT.host, pid: SHORT.pid });
    expect(revoke).toEqual({ ...request, reason: why });
    expect([cmd, why.length]).toEqual([why, expect.closeTo(250, -2)]);
  });

  test.each([Mutex, UniqueLock])("in a ticket, with what is known later: %o", async (Recipe) => {
    const session = openFor(await freshChroot());
    const lock = await new Recipe(session, "/l", { holder: { who: "ann@web3", why: "z".repeat(3_000) } }).acquire();
    const { data } = await session.getData(lock.nodePath);
    const stamp = ',"acquired":"2026-11-16T20:05:09.000Z"';
    expect((data?.length ?? 0) + (String(data).includes("acquired") ? 0 : stamp.length)).toBeLessThanOrEqual(KIB);
    expect(decodeRecord(data)).toMatchObject({ who: "ann@web3", why: expect.stringMatching(/^z{700,}…$/) });
  });
});
