/** Quotas: what is counted. That they are enforced is in limits.contract.test.ts. */
import { expect, test } from "vitest";
import { onBothServers } from "./on-both-servers.ts";
import { quotaNodes, statsOf } from "./quota-nodes.ts";
import { Flags } from "./raw-client.ts";

onBothServers((server) => {
  test("znodes that exist when a quota is set are counted", async () => {
    const client = await server.fresh();
    await client.create("/q", { data: "12345" });
    await client.create("/q/a", { data: "678" });
    await client.create("/q/a/b");
    await quotaNodes(client, "/q", "count=10,bytes=100");
    expect(await statsOf(client, "/q")).toBe("count=3,bytes=8");
  });

  test("every create, delete and setData is counted", async () => {
    const client = await server.fresh();
    await client.create("/q");
    await quotaNodes(client, "/q", "count=1,bytes=1");
    expect(await statsOf(client, "/q")).toBe("count=1,bytes=0");
    await client.create("/q/a", { data: "123" });
    expect(await statsOf(client, "/q")).toBe("count=2,bytes=3");
    await client.setData("/q/a", "12345");
    expect(await statsOf(client, "/q")).toBe("count=2,bytes=5");
    await client.setData("/q", "1");
    expect(await statsOf(client, "/q")).toBe("count=2,bytes=6");
    await client.create("/q/a/deep", { data: "xx" });
    expect(await statsOf(client, "/q")).toBe("count=3,bytes=8");
    await client.delete("/q/a/deep");
    expect(await statsOf(client, "/q")).toBe("count=2,bytes=6");
    await client.setData("/q/a", null);
    expect(await statsOf(client, "/q")).toBe("count=2,bytes=1");
    await client.create("/qq", { data: "not below" });
    expect(await statsOf(client, "/q")).toBe("count=2,bytes=1");
  });

  test("transactions, ephemerals and the end of their session are counted", async () => {
    const [client, other] = await server.pair();
    await client.create("/q");
    await quotaNodes(client, "/q", "count=1,bytes=1");
    await client.multi([
      { op: "create", path: "/q/a", data: "123" },
      { op: "setData", path: "/q/a", data: "1" },
      { op: "create", path: "/q/b" },
    ]);
    expect(await statsOf(client, "/q")).toBe("count=3,bytes=1");
    await client.multi([
      { op: "delete", path: "/q/a" },
      { op: "delete", path: "/no" },
    ]);
    expect(await statsOf(client, "/q")).toBe("count=3,bytes=1");
    await other.create("/q/e", { data: "1234", flags: Flags.ephemeral });
    expect(await statsOf(client, "/q")).toBe("count=4,bytes=5");
    await other.closeSession();
    expect(await statsOf(client, "/q")).toBe("count=3,bytes=1");
  });

  test("a change below two quotas is counted by the nearer one alone", async () => {
    const client = await server.fresh();
    await client.create("/q");
    await client.create("/q/a");
    await quotaNodes(client, "/q", "count=1,bytes=1");
    await quotaNodes(client, "/q/a", "count=1,bytes=1");
    await client.create("/q/a/b", { data: "123" });
    await client.create("/q/c", { data: "1" });
    expect([await statsOf(client, "/q"), await statsOf(client, "/q/a")]).toEqual([
      "count=3,bytes=1",
      "count=2,bytes=3",
    ]);
  });

  test("nothing is counted after the limits are deleted", async () => {
    const client = await server.fresh();
    await client.create("/q");
    const quota = await quotaNodes(client, "/q", "count=1,bytes=1");
    await quota.dropLimits();
    await client.create("/q/a");
    expect(await statsOf(client, "/q")).toBe("count=1,bytes=0");
  });

  test("a znode that is created after its quota is counted", async () => {
    const client = await server.fresh();
    await quotaNodes(client, "/q", "count=1,bytes=1");
    expect(await statsOf(client, "/q")).toBe("count=0,bytes=0");
    await client.create("/q", { data: "12" });
    await client.create("/q/a");
    expect(await statsOf(client, "/q")).toBe("count=2,bytes=2");
  });

  test("counting does not change the stat of the znode that has the count", async () => {
    const client = await server.fresh();
    await client.create("/q");
    const quota = await quotaNodes(client, "/q", "count=1,bytes=1");
    const before = await quota.statsStat();
    await client.create("/q/a", { data: "1" });
    const after = await quota.statsStat();
    expect({ ...after, dataLength: 0 }).toEqual({ ...before, dataLength: 0 });
  });
});
