/**
 * What is limited and what is swept away, on servers of their own; and zxids that nobody else
 * takes.
 */
import { describe, expect, test } from "vitest";
import { ErrorCode, Opcode } from "../../src/wire/protocol.ts";
import { eventually } from "../support/eventually.ts";
import { onBothServers } from "./on-both-servers.ts";
import { quotaNodes, statsOf } from "./quota-nodes.ts";
import { Flags } from "./raw-client.ts";

const MAX_BYTES = 50_000;

onBothServers(
  (server) => {
    test("a fresh server has four znodes, with the stats of Apache ZooKeeper's", async () => {
      const client = await server.open();
      expect((await client.getChildren("/")).children).toEqual(["zookeeper"]);
      expect((await client.getChildren("/zookeeper")).children).toEqual(["config", "quota"]);
      const nothing = {
        czxid: 0n,
        mzxid: 0n,
        ctime: 0,
        mtime: 0,
        version: 0,
        aversion: 0,
        ephemeralOwner: 0n,
      };
      const root = { ...nothing, cversion: -1, pzxid: 0n, dataLength: 0, numChildren: 1 };
      expect((await client.exists("/")).stat).toEqual(root);
      expect((await client.exists("/zookeeper")).stat).toEqual({
        ...root,
        cversion: -2,
        numChildren: 2,
      });
      expect((await client.exists("/zookeeper/quota")).stat).toEqual({
        ...root,
        cversion: 0,
        numChildren: 0,
      });
      expect((await client.getData("/")).data).toBe("");
    });

    describe("zxids", () => {
      test("every session, write and failed write takes one; reads take none", async () => {
        const client = await server.open();
        const { zxid: start } = await client.ping();
        const other = await server.open();
        expect((await client.exists("/")).zxid).toBe(start + 1n);
        expect((await client.create("/z")).zxid).toBe(start + 2n);
        expect((await client.create("/z")).zxid).toBe(start + 3n);
        expect((await client.setData("/z", "")).zxid).toBe(start + 4n);
        expect((await client.setData("/z", "", 77)).zxid).toBe(start + 5n);
        expect((await client.multi([{ op: "check", path: "/z" }])).zxid).toBe(start + 6n);
        expect((await client.multi([{ op: "check", path: "/no" }])).zxid).toBe(start + 7n);
        expect((await client.sync("/")).zxid).toBe(start + 7n);
        expect((await client.getData("/no")).zxid).toBe(start + 7n);
        expect((await client.create("bad")).zxid).toBe(start + 8n);
        expect((await client.delete("/z")).zxid).toBe(start + 9n);
        expect((await other.closeSession()).zxid).toBe(start + 10n);
        expect((await client.ping()).zxid).toBe(start + 10n);
      });
    });

    describe("a request", () => {
      /** Bytes of a create's frame besides its data. */
      const overhead = (path: string) => 8 + 4 + path.length + 4 + 4 + (4 + 4 + 5 + 4 + 6) + 4;

      test("of exactly the limit is accepted", async () => {
        const client = await server.fresh();
        const data = "x".repeat(MAX_BYTES - overhead(client.full("/a")));
        expect(await client.create("/a", { data })).toMatchObject({ err: 0 });
        expect((await client.getData("/a")).data).toHaveLength(data.length);
      });

      test("of one byte more loses its connection and keeps its session", async () => {
        const client = await server.fresh();
        const data = "x".repeat(MAX_BYTES - overhead(client.full("/a")) + 1);
        await expect(client.create("/a", { data })).rejects.toThrow("hung up");
        const again = await client.reattach(server.address);
        expect(await again.exists("/a")).toMatchObject({ err: ErrorCode.noNode });
        again.end();
      });

      test("may have an answer that is longer than the limit", async () => {
        const client = await server.fresh();
        const data = "x".repeat(30_000);
        await client.create("/a", { data });
        await client.create("/b", { data });
        const steps = ["/a", "/b"].map((path) => ({ op: "getData", path }) as const);
        const { results } = await client.multi(steps, Opcode.multiRead);
        expect(results.map((result) => result.data?.length)).toEqual([30_000, 30_000]);
      });
    });

    describe("quotas", () => {
      const LIMITS = "count=1,bytes=1=;byteHardLimit=10;countHardLimit=3";

      test("with a hard limit of znodes refuse creates beyond it", async () => {
        const client = await server.fresh();
        await client.create("/q");
        await quotaNodes(client, "/q", LIMITS);
        await client.create("/q/a");
        await client.create("/q/b");
        expect(await client.create("/q/c")).toMatchObject({
          err: ErrorCode.quotaExceeded,
          body: Buffer.alloc(0),
        });
        expect(await client.create("/q/a/deep")).toMatchObject({ err: ErrorCode.quotaExceeded });
        const { results } = await client.multi([
          { op: "delete", path: "/q/b" },
          { op: "create", path: "/q/c" },
        ]);
        expect(results.map(({ code }) => code)).toEqual([0, ErrorCode.quotaExceeded]);
        await client.delete("/q/b");
        expect(await client.create("/q/c")).toMatchObject({ err: 0 });
        expect(await statsOf(client, "/q")).toBe("count=3,bytes=0");
      });

      test("with a hard limit of bytes refuse data beyond it", async () => {
        const client = await server.fresh();
        await client.create("/q");
        await quotaNodes(client, "/q", LIMITS);
        expect(await client.create("/q/a", { data: "12345678901" })).toMatchObject({
          err: ErrorCode.quotaExceeded,
        });
        expect(await client.create("/q/a", { data: "1234567890" })).toMatchObject({ err: 0 });
        expect(await client.setData("/q", "1")).toMatchObject({ err: ErrorCode.quotaExceeded });
        expect(await client.setData("/q/a", "12345678901")).toMatchObject({
          err: ErrorCode.quotaExceeded,
        });
        expect(await client.setData("/q/a", "1234567")).toMatchObject({ err: 0 });
        expect(await client.setData("/q", "123")).toMatchObject({ err: 0 });
        expect(await statsOf(client, "/q")).toBe("count=2,bytes=10");
      });

      test("with soft limits refuse nothing", async () => {
        const client = await server.fresh();
        await client.create("/q");
        await quotaNodes(client, "/q", "count=1,bytes=1");
        expect(await client.create("/q/a", { data: "1234" })).toMatchObject({ err: 0 });
        expect(await client.setData("/q", "1234")).toMatchObject({ err: 0 });
      });

      test.each(["nonsense", "count=abc", "count=5,bytes", "count=,bytes=", ",;count=1"])(
        "that cannot be read (%s) refuse every write",
        async (limits) => {
          const client = await server.fresh();
          await client.create("/q");
          await quotaNodes(client, "/q", limits);
          expect(await client.create("/q/a")).toMatchObject({ err: ErrorCode.marshallingError });
          expect(await client.setData("/q", "x")).toMatchObject({
            err: ErrorCode.marshallingError,
          });
          expect(await client.getData("/q")).toMatchObject({ err: 0, data: "" });
        },
      );

      test("without any limit only count", async () => {
        const client = await server.fresh();
        await client.create("/q");
        await quotaNodes(client, "/q", "");
        expect(await client.create("/q/a", { data: "123" })).toMatchObject({ err: 0 });
        expect(await statsOf(client, "/q")).toBe("count=2,bytes=3");
      });

      test("with hard limits of -1 refuse nothing", async () => {
        const client = await server.fresh();
        await client.create("/q");
        await quotaNodes(client, "/q", "count=1,bytes=1=;byteHardLimit=-1;countHardLimit=-1");
        expect(await client.create("/q/a", { data: "1234" })).toMatchObject({ err: 0 });
      });
    });

    describe("nodes that the server deletes itself", () => {
      test("are containers that had children and have none left", async () => {
        const [client, other] = await server.pair();
        for (const path of ["/used", "/unused", "/full"])
          await client.create(path, { flags: Flags.container });
        await client.create("/used/c");
        await client.create("/full/c");
        // Before there is anything to sweep away.
        await other.addWatch("/", 1);
        await client.delete("/used/c");
        await eventually(async () =>
          expect((await client.getChildren("/")).children).toEqual(["full", "unused"]),
        );
        expect(await other.heard()).toEqual(["deleted /used/c", "deleted /used"]);
        expect(await client.create("/full/d")).toMatchObject({ err: 0 });
      });

      test("are TTL nodes without children, some time after their last change", async () => {
        const client = await server.fresh();
        // Long enough for a busy machine to make the child, too; and it is over when that of the
        // others is.
        const ttlMs = 1_500;
        await client.create("/full", { flags: Flags.ttl, ttlMs });
        await client.create("/full/c");
        await client.create("/short", { flags: Flags.ttl, ttlMs });
        await client.create("/long", { flags: Flags.ttl, ttlMs: 100_000 });
        await client.create("/s-", { flags: Flags.sequentialTtl, ttlMs });
        await eventually(async () =>
          expect((await client.getChildren("/")).children).toEqual(["full", "long"]),
        );
        await client.delete("/full/c");
        await eventually(async () =>
          expect((await client.getChildren("/")).children).toEqual(["long"]),
        );
      });

      test("are not TTL nodes that are written to often enough", async () => {
        const client = await server.fresh();
        await client.create("/t", { flags: Flags.ttl, ttlMs: 1_500 });
        const until = performance.now() + 2_500;
        await eventually(
          async () => (await client.setData("/t", "")).err !== 0 || performance.now() > until,
          {
            intervalMs: 100,
          },
        );
        expect(await client.exists("/t")).toMatchObject({ err: 0 });
        await eventually(async () =>
          expect(await client.exists("/t")).toMatchObject({ err: ErrorCode.noNode }),
        );
      });
    });
  },
  { enforceQuotas: true, maxRequestBytes: MAX_BYTES, containerCheckIntervalMs: 200 },
);
