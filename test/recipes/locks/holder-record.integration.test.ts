import { describe, expect, test } from "vitest";
import {
  decodeRecord,
  describeParty,
  encodeRecord,
  type HolderRecord,
  revokeRequest,
} from "../../../src/recipes/locks/holder-record.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import { UniqueLock } from "../../../src/recipes/locks/unique-lock.ts";
import type { Stat } from "../../../src/session/session.ts";
import { openFor } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";

const KIB = 1024;
const SHORT: HolderRecord = {
  v: 1,
  tool: "zksh/0.1.0",
  who: "ann@web3",
  host: "web3",
  pid: 4711,
  cmd: "deploy.sh",
};

/** As it was written: reading a record cuts its texts. */
function written(data: Buffer | null): HolderRecord {
  return JSON.parse(String(data));
}

describe("a holder record", () => {
  test("is written whole if it fits into 1 KiB", () => {
    const record = { ...SHORT, why: "x".repeat(800) };
    expect(written(encodeRecord(record))).toEqual(record);
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
    const { why: kept = "", ...rest } = written(bytes);
    expect(rest).toEqual(SHORT);
    expect(kept).not.toMatch(/\p{Surrogate}/u);
    expect([why.startsWith(kept.slice(0, -1)), kept.at(-1)]).toEqual([true, "…"]);
  });

  test("is cut to 1 KiB in its longest texts, those of a request too", () => {
    const long = "y".repeat(5_000);
    const request = { by: "bob@web4", at: "2026-11-16T20:05:09.000Z", reason: long };
    const bytes = encodeRecord({ ...SHORT, cmd: long, why: long, revoke: request });
    expect(bytes.length).toBeLessThanOrEqual(KIB);
    const { cmd = "", why = "", revoke, ...rest } = written(bytes);
    expect(rest).toEqual({
      v: 1,
      tool: SHORT.tool,
      who: SHORT.who,
      host: SHORT.host,
      pid: SHORT.pid,
    });
    expect(revoke).toEqual({ ...request, reason: why });
    expect([cmd, why.length]).toEqual([why, expect.closeTo(250, -2)]);
  });

  test.each([Mutex, UniqueLock])(
    "stays within 1 KiB in a ticket when the rest is known: %o",
    async (Recipe) => {
      const session = openFor(await freshChroot());
      const lock = await new Recipe(session, "/l", {
        holder: { who: "ann@web3", why: "z".repeat(3_000) },
      }).acquire();
      const { data } = await session.getData(lock.nodePath);
      const stamp = ',"acquired":"2026-11-16T20:05:09.000Z"';
      expect(
        (data?.length ?? 0) + (String(data).includes("acquired") ? 0 : stamp.length),
      ).toBeLessThanOrEqual(KIB);
      expect(written(data)).toMatchObject({
        who: "ann@web3",
        why: expect.stringMatching(/^z{700,}…$/),
      });
    },
  );
});

const STAT = { ephemeralOwner: 0x10n, czxid: 7n, ctime: 1_000, dataLength: 1 } as Stat;

/** What is shown of a ticket with this data. */
function shown(data: string) {
  const bytes = Buffer.from(data);
  const { who, why, client, note, isAskedToYield } = describeParty("/l/x", undefined, {
    data: bytes,
    stat: STAT,
  });
  return { who, why, client, note, isAskedToYield };
}

const UNREADABLE = { client: "unknown", note: "unreadable record", isAskedToYield: false };

describe("a holder record that is read", () => {
  test.each([
    ["a time that is no text", '{"v":1,"tool":"x","acquired":{"toString":null}}'],
    ["a request of another shape", '{"v":1,"tool":"x","revoke":{"by":{"toString":null}}}'],
    ["a request that is a list", '{"v":1,"tool":"x","revoke":[1]}'],
    ["a name that is a number", '{"v":1,"tool":"x","who":5}'],
    ["a tool that is none", '{"v":1,"tool":null}'],
    ["a process id beyond all bounds", '{"v":1,"tool":"x","pid":1e300}'],
    ["a broken process id", '{"v":1,"tool":"x","pid":1.5}'],
    ["tokens that are none", '{"v":1,"tool":"x","within":[{"toString":null}]}'],
    ["too many tokens", JSON.stringify({ v: 1, tool: "x", within: Array(65).fill("1") })],
    ["an inherited field", '{"v":1,"tool":"x","__proto__":{"who":"eve"},"pid":"7"}'],
    ["a text of 900 KB", JSON.stringify({ v: 1, tool: "x", why: "y".repeat(900_000) })],
    ["200,000 brackets", `{"v":1,"tool":"x","why":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ])("is unreadable with %s", (_what, data) => {
    expect(decodeRecord(Buffer.from(data))).toBeUndefined();
    expect(revokeRequest(Buffer.from(data))).toBeUndefined();
    expect(shown(data)).toEqual({ ...UNREADABLE, who: undefined, why: undefined });
  });

  test("keeps known fields only, and 200 characters of each", () => {
    const long = `😀${"z".repeat(600)}`;
    const data = JSON.stringify({
      v: 2,
      tool: "t",
      why: long,
      revoke: { by: long, deep: [[[]]] },
      more: { a: 1 },
    });
    const cut = `😀${"z".repeat(197)}…`;
    expect(decodeRecord(Buffer.from(data))).toEqual({
      v: 1,
      tool: "t",
      why: cut,
      revoke: { by: cut },
    });
  });

  test("is not taken for ours if it does not say so", () => {
    const none = { who: undefined, why: undefined, client: "unknown", isAskedToYield: false };
    expect(shown('{"host":"a"}')).toEqual({ ...none, note: '{"host":"a"}' });
    expect(shown("{broken")).toEqual({ ...none, note: "{broken" });
    expect(shown("x".repeat(900_000))).toEqual({ ...none, note: `${"x".repeat(199)}…` });
    expect(shown("\u0000\u0001")).toEqual({ ...none, note: undefined });
  });
});
