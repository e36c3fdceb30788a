/** Walks over a real server's trees while the connection breaks and others change the tree. */
import { describe, expect, test } from "vitest";
import { deleteTree } from "../../../src/recipes/trees/delete-tree.ts";
import { setTreeAcl } from "../../../src/recipes/trees/set-tree-acl.ts";
import { childPaths, walk } from "../../../src/recipes/trees/walk.ts";
import type { Session } from "../../../src/session/session.ts";
import { behindProxy } from "../../support/behind-proxy.ts";
import type { FaultProxy } from "../../support/fault-proxy.ts";

const PARENTS = 20;
const CHILDREN = 200;
const signal = new AbortController().signal;

async function plant(session: Session): Promise<string[]> {
  const parents = Array.from({ length: PARENTS }, (_, i) => `/t/${String(i).padStart(2, "0")}`);
  const children = parents.map((parent) =>
    Array.from({ length: CHILDREN }, (_, i) => `${parent}/${String(i).padStart(3, "0")}`),
  );
  const paths = ["/t", ...parents, ...children.flat()];
  await session.multi(paths.map((path) => ({ op: "create", path, data: null }) as const));
  return paths;
}

/**
 * Breaks the connection with every so many chunks in a direction, twice: a read that breaks three
 * is given up.
 */
function breakOften(proxy: FaultProxy, direction: "to-server" | "to-client", every: number): void {
  let chunks = 0;
  let times = 2;
  proxy.onBytes = (towards) => {
    if (towards !== direction || ++chunks % every !== 0 || times-- <= 0) return;
    proxy.drop();
  };
}

const BREAKS = [
  { direction: "to-client", every: 5 },
  { direction: "to-client", every: 7 },
  { direction: "to-server", every: 4 },
  { direction: "to-server", every: 9 },
] as const;

describe.each(BREAKS)(
  "when the connection breaks with every chunk number $every $direction",
  ({ direction, every }) => {
    test("a walk misses nothing and tells nothing twice", async () => {
      const { session, other, proxy } = await behindProxy();
      const paths = await plant(other);
      breakOften(proxy, direction, every);
      const seen: string[] = [];
      for await (const visits of walk(session, "/t", { signal, onFailure() {} }))
        seen.push(...visits.flatMap(childPaths));
      expect(seen).toEqual(paths.slice(1));
      expect(proxy.accepted).toBeGreaterThan(1);
    });

    test.each([{ batchSize: 100 }, { batchSize: 1 }])(
      "deletes in batches of $batchSize are all done",
      async ({ batchSize }) => {
        const { session, other, proxy } = await behindProxy();
        const { length } = await plant(other);
        breakOften(proxy, direction, every);
        const { deleted, failures } = await deleteTree(session, "/t", { signal, batchSize });
        expect([deleted, failures, await other.exists("/t")]).toEqual([length, [], undefined]);
        expect(proxy.accepted).toBeGreaterThan(1);
      },
    );

    test("ACLs that forbid to list are all set", async () => {
      const { session, other, proxy } = await behindProxy();
      const paths = await plant(other);
      breakOften(proxy, direction, every);
      const noRead = 31 & ~1;
      const acl = [
        { scheme: "world", id: "anyone", perms: noRead },
        { scheme: "ip", id: "127.0.0.1", perms: noRead },
      ];
      expect(await setTreeAcl(session, "/t", acl, { signal })).toEqual({
        changed: paths.length,
        failures: [],
      });
      const acls = await Promise.all(paths.map((path) => other.getAcl(path)));
      expect(acls.filter((found) => found.acl.length !== 2)).toEqual([]);
    });
  },
);

describe("while others change the tree", () => {
  test("deletes the znodes that other clients create, and ignores those that they delete", async () => {
    const { session, other } = await behindProxy();
    const paths = await plant(other);
    const made: Promise<unknown>[] = [];
    const onProgress = () => {
      if (made.length >= 40) return;
      const parent = `/t/${String(PARENTS - 1 - (made.length % 5)).padStart(2, "0")}`;
      made.push(other.create(`${parent}/new${made.length}`, null).catch(() => {}));
      made.push(other.delete(`${parent}/${String(made.length).padStart(3, "0")}`).catch(() => {}));
    };
    const { deleted, failures } = await deleteTree(session, "/t", {
      signal,
      batchSize: 50,
      onProgress,
    });
    await Promise.all(made);
    expect([failures, await other.exists("/t")]).toEqual([[], undefined]);
    expect(deleted).toBeLessThanOrEqual(paths.length + made.length);
  });

  test("names what it may not delete, and deletes everything else", async () => {
    const { session, other } = await behindProxy();
    await plant(other);
    // To delete a child takes a permission of its parent.
    const noDelete = [{ scheme: "world", id: "anyone", perms: 31 & ~8 }];
    await other.setAcl("/t/07", noDelete);
    const noRead = [{ scheme: "world", id: "anyone", perms: 31 & ~1 }];
    await other.setAcl("/t/11", noRead);
    const { deleted, failures } = await deleteTree(session, "/t", { signal });
    expect(failures.map(({ path, error }) => `${path} ${error.reason}`).sort()).toEqual([
      ...Array.from({ length: CHILDREN }, (_, i) => `/t/07/${String(i).padStart(3, "0")} no-auth`),
      "/t/11 no-auth",
    ]);
    expect([deleted, (await other.getChildren("/t")).sort()]).toEqual([
      (PARENTS - 2) * (CHILDREN + 1),
      ["07", "11"],
    ]);
  });
});
