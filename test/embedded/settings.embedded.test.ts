import { describe, expect, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { type EmbeddedServerOptions, settingsOf } from "../../src/embedded/settings.ts";

describe("the options of an embedded server", () => {
  test("may be undefined, which means the default", () => {
    const undefinedOnes: EmbeddedServerOptions = {
      host: undefined,
      tickTimeMs: undefined,
      maxRequestBytes: undefined,
    };
    expect(settingsOf(undefinedOnes)).toEqual(settingsOf({}));
    expect(settingsOf({})).toMatchObject({
      host: "127.0.0.1",
      minSessionTimeoutMs: 4_000,
      maxSessionTimeoutMs: 40_000,
    });
  });

  test.each([
    { options: { host: "" }, message: "no host to listen on" },
    { options: { tickTimeMs: -1 }, message: "bad tickTimeMs -1" },
    { options: { tickTimeMs: Number.NaN }, message: "bad tickTimeMs NaN" },
    { options: { tickTimeMs: 33.3 }, message: "bad tickTimeMs 33.3" },
    { options: { tickTimeMs: 1e10 }, message: "bad tickTimeMs 10000000000" },
    { options: { maxRequestBytes: 0 }, message: "bad maxRequestBytes 0" },
    {
      options: { containerCheckIntervalMs: 1e12 },
      message: "bad containerCheckIntervalMs 1000000000000",
    },
    {
      options: { minSessionTimeoutMs: 9, maxSessionTimeoutMs: 8 },
      message: "bad maxSessionTimeoutMs 8",
    },
    { options: { port: 65_536 }, message: "bad port 65536" },
  ])("$message", async ({ options, message }) => {
    await expect(startEmbeddedServer(options)).rejects.toThrow(message);
  });

  test("a stall takes only a duration, of any length, and none once the server has stopped", async () => {
    const server = await startEmbeddedServer();
    expect(() => server.stall(Number.NaN)).toThrow("cannot stall for NaN ms");
    server.stall(Infinity);
    expect(server).toHaveProperty("isStalled", true);
    await server.stop();
    const late = await startEmbeddedServer();
    await late.stop();
    late.stall(60_000);
    expect(late).toHaveProperty("isStalled", false);
  });
});
