import { describe, expect, test } from "vitest";
import { parseMntr } from "../../../src/recipes/servers/mntr.ts";
import { ratesBetween, sampleOf } from "../../../src/recipes/servers/server-sample.ts";
import { parseSrvr } from "../../../src/recipes/servers/srvr.ts";
import { MNTR_3_4, MNTR_3_8, SRVR_3_4, SRVR_3_8 } from "./answers.ts";

describe("a sample", () => {
  test("is made of srvr, and of mntr what srvr does not tell", () => {
    expect(sampleOf(parseSrvr(SRVR_3_8), parseMntr(MNTR_3_8), 5)).toEqual({
      at: 5,
      mode: "follower",
      zxid: 0x100000004n,
      received: 7,
      sent: 6,
      outstanding: 0,
      connections: 2,
      znodes: 7,
      watches: 3,
      averageLatencyMs: 22.3333,
      maxLatencyMs: 41,
      requestMs: 34,
      requests: 6,
    });
  });

  test("without mntr has no watches, without srvr no zxid", () => {
    expect(sampleOf(parseSrvr(SRVR_3_4), undefined, 5)).not.toHaveProperty("watches");
    const sample = sampleOf(undefined, parseMntr(MNTR_3_4), 5);
    expect(sample).toMatchObject({ mode: "leader", received: 1902, watches: 7, maxLatencyMs: 45 });
    expect(sample).not.toHaveProperty("zxid");
  });

  test("without both is none", () => {
    expect(sampleOf(undefined, undefined, 5)).toBeUndefined();
  });
});

describe("the rates between two samples", () => {
  const before = { at: 1_000, received: 100, sent: 200, zxid: 0x1_0000_0010n };

  test("are differences per second", () => {
    const now = { at: 3_000, received: 150, sent: 260, zxid: 0x1_0000_0030n };
    expect(ratesBetween(before, now)).toEqual({
      received: 25,
      sent: 30,
      zxids: 16,
      isReset: false,
    });
  });

  test("are left out where a counter was reset, and never negative", () => {
    expect(ratesBetween(before, { at: 2_000, received: 3, sent: 300 })).toEqual({ isReset: true });
    expect(ratesBetween(before, { at: 2_000, received: 300, sent: 3 })).toEqual({ isReset: true });
  });

  test("are left out where the server was restarted and has counted further already", () => {
    const [old, young] = [
      { ...before, uptimeMs: 9_000 },
      { at: 2_000, received: 500, sent: 500, uptimeMs: 400 },
    ];
    expect(ratesBetween(old, young)).toEqual({ isReset: true });
  });

  test("have no zxids over the change of an epoch, nor backwards", () => {
    for (const zxid of [0x2_0000_0001n, 0x1_0000_0001n]) {
      const now = { at: 2_000, received: 100, sent: 200, zxid };
      expect(ratesBetween(before, now)).toEqual({ received: 0, sent: 0, isReset: false });
    }
  });

  test("have the mean latency of the requests between them", () => {
    const rates = ratesBetween(
      { at: 0, requestMs: 100, requests: 10 },
      { at: 1_000, requestMs: 130, requests: 14 },
    );
    expect(rates).toEqual({ latencyMs: 7.5, isReset: false });
    const idle = { at: 2_000, requestMs: 130, requests: 14 };
    expect(ratesBetween({ ...idle, at: 1_000 }, idle)).toEqual({ isReset: false });
  });

  test("of one moment are none", () => {
    expect(ratesBetween(before, before)).toEqual({ isReset: false });
  });
});
