import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { ServerList } from "../../../../src/session/zookeeper/connecting/server-list.ts";

test("looking names up leaves nothing with the signal, which lives as long as the session", async () => {
  const servers = new ServerList([{ host: "localhost", port: 1 }]);
  const { signal } = new AbortController();
  for (let attempt = 0; attempt < 5; attempt++) {
    await servers.next({ signal, timeoutMs: 60_000, unresolved: () => {} });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  }
});

test("a lookup ends with the signal", async () => {
  const servers = new ServerList([{ host: "localhost", port: 1 }]);
  const interrupt = new AbortController();
  interrupt.abort(new Error("enough"));
  const search = { signal: interrupt.signal, timeoutMs: 60_000, unresolved: () => {} };
  await expect(servers.next(search)).rejects.toThrow("enough");
});
