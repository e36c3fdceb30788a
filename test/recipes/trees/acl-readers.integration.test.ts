import { describe, expect, test } from "vitest";
import { AclReaders } from "../../../src/recipes/trees/acl-readers.ts";
import { Permission, type Session } from "../../../src/session/session.ts";
import { freePort } from "../../support/free-port.ts";
import { openFor } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";

const ZNODES = 6_000;
const PATHS = Array.from({ length: ZNODES }, (_, i) => `/t/${i}`);
const signal = new AbortController().signal;

async function plantedTree(): Promise<{ server: string; session: Session }> {
  const server = await freshChroot();
  const session = openFor(server);
  await session.create("/t", null);
  for (let at = 0; at < ZNODES; at += 1_000) {
    const ops = PATHS.slice(at, at + 1_000).map((path, i) => ({
      op: "create" as const,
      path,
      data: null,
      acl: [
        { scheme: "digest", id: `user${at + i}:hash`, perms: Permission.all },
        { scheme: "world", id: "anyone", perms: Permission.read },
      ],
    }));
    await session.multi(ops);
  }
  return { server, session };
}

/** The users that the ACLs name, in the order of the paths. */
async function usersOf(readers: AclReaders): Promise<string[]> {
  const users: string[] = [];
  for (let at = 0; at < ZNODES; at += 500) {
    const answers = PATHS.slice(at, at + 500).map((path) => readers.getAcl(path, { signal }));
    for (const { acl } of await Promise.all(answers)) users.push(acl[0]?.id.split(":")[0] ?? "");
  }
  return users;
}

const ALL_USERS = PATHS.map((_, i) => `user${i}`);

describe("ACLs that are read on several sessions", () => {
  test("are those of the tree, and the sessions are closed in the end", async () => {
    const { server, session } = await plantedTree();
    const others: Session[] = [];
    const open = async () => {
      const other = openFor(server);
      others.push(other);
      return other;
    };
    const readers = new AclReaders(session, { open, signal });
    expect(await usersOf(readers)).toEqual(ALL_USERS);
    await readers.close();
    expect(others.map(({ state }) => state)).toEqual(["lost", "lost", "lost"]);
    expect(session.state).toBe("connected");
  });

  test("are asked of the tree's own session where another one does not know the znode", async () => {
    const { session } = await plantedTree();
    const elsewhere = await freshChroot();
    const asked: string[] = [];
    const open = async () => {
      const other = openFor(elsewhere);
      const getAcl = other.getAcl.bind(other);
      other.getAcl = (path, options) => {
        asked.push(path);
        return getAcl(path, options);
      };
      return other;
    };
    const readers = new AclReaders(session, { open, signal });
    expect(await usersOf(readers)).toEqual(ALL_USERS);
    expect(asked.length).toBeGreaterThan(500);
    await readers.close();
  });

  test("are asked of the tree's own session where the others end in the middle", async () => {
    const { server, session } = await plantedTree();
    const others: Session[] = [];
    const open = async () => {
      const other = openFor(server);
      const getAcl = other.getAcl.bind(other);
      let asked = 0;
      other.getAcl = (path, options) => {
        if (++asked === 100) void other.close();
        return getAcl(path, options);
      };
      others.push(other);
      return other;
    };
    const readers = new AclReaders(session, { open, signal });
    expect(await usersOf(readers)).toEqual(ALL_USERS);
    await readers.close();
    expect(others.map(({ state }) => state)).toEqual(["lost", "lost", "lost"]);
  });

  test("do not wait for sessions that no server accepts", async () => {
    const { session } = await plantedTree();
    const nowhere = `127.0.0.1:${await freePort()}`;
    const others: Session[] = [];
    const open = async () => {
      const other = openFor(nowhere);
      others.push(other);
      return other;
    };
    const readers = new AclReaders(session, { open, signal });
    expect(await usersOf(readers)).toEqual(ALL_USERS);
    const startedAt = performance.now();
    await readers.close();
    // The sessions would have looked for a server for ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(others.map(({ state }) => state)).toEqual(["lost", "lost", "lost"]);
  });

  test("are read on one session where they are few", async () => {
    const { server, session } = await plantedTree();
    let opened = 0;
    const open = async () => {
      opened += 1;
      return openFor(server);
    };
    const readers = new AclReaders(session, { open, signal });
    const answers = PATHS.slice(0, 1_900).map((path) => readers.getAcl(path, { signal }));
    expect(await Promise.all(answers)).toHaveLength(1_900);
    await readers.close();
    expect(opened).toBe(0);
  });
});
