/** Sessions that log in by SASL DIGEST-MD5 to Apache ZooKeeper. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SessionOptions } from "../../../../src/session/options.ts";
import { Permission, type Session } from "../../../../src/session/session.ts";
import { eventually } from "../../../support/eventually.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import {
  type SaslEnsemble,
  type SaslServer,
  startSaslEnsemble,
  startSaslServer,
} from "../../../support/sasl-server.ts";
import { sharedServer } from "../../../support/shared-server.ts";

/** The last four are not ASCII: names and passwords in ISO 8859-1, and beyond it. */
const USERS = {
  bob: "bobsecret",
  ann: "s,p=a:c e",
  bøb: "secret",
  jörg: "pässwörd",
  kanji: "秘密",
  日本: "ünd€",
};

let offered: SaslServer;
let required: SaslServer;
beforeAll(async () => {
  [offered, required] = await Promise.all([
    startSaslServer(USERS),
    startSaslServer(USERS, { isRequired: true }),
  ]);
});
afterAll(() => Promise.all([offered, required].map((server) => server?.stop())));

function login(username: string, password: string): Pick<SessionOptions, "sasl"> {
  return { sasl: { mechanism: "DIGEST-MD5", username, password } };
}

const saslIds = async (session: Session) =>
  (await session.whoAmI()).filter(({ scheme }) => scheme === "sasl").map(({ id }) => id);

test.each(Object.entries(USERS))("%s logs in", async (name, password) => {
  const session = openFor(offered.server.address, login(name, password));
  expect(await saslIds(session)).toEqual([name]);
});

test.each([
  ["a wrong password", "bob", "wrong"],
  ["an unknown user", "eve", "secret"],
  ["an empty password", "bob", ""],
])("%s is refused", async (_, name, password) => {
  for (const { server } of [offered, required]) {
    const session = openFor(server.address, login(name, password));
    expect(await rejection(session.getData("/"))).toMatchObject({
      reason: "sasl-refused",
      message: expect.stringContaining(`${server.address} refused the login of ${name}: `),
    });
  }
});

test("a server that lets failed logins in is not believed", async () => {
  const lax = await startSaslServer(USERS, {
    jvmFlags: ["-Dzookeeper.allowSaslFailedClients=true"],
  });
  try {
    const session = openFor(lax.server.address, login("bob", "wrong"));
    expect(await rejection(session.getData("/"))).toMatchObject({ reason: "sasl-ignored" });
  } finally {
    await lax.stop();
  }
});

test("a server without SASL is refused", async () => {
  const session = openFor(sharedServer(), login("bob", "bobsecret"));
  expect(await rejection(session.getData("/"))).toMatchObject({ reason: "sasl-not-offered" });
});

describe("a server that requires SASL", () => {
  test("takes one-shots, closes their session, and answers heartbeats", async () => {
    const { address } = required.server;
    const session = openFor(address, { ...login("bob", "bobsecret"), timeoutMs: 4_000 });
    const began = performance.now();
    const acl = [{ perms: Permission.all, scheme: "sasl", id: "bob" }];
    await session.create("/mortal", null, { mode: "ephemeral", acl });
    await eventually(() => performance.now() > began + 5_000);
    const { id } = session;
    await session.getData("/mortal");
    await session.close();
    expect(session.id).toBe(id);
    const other = openFor(address, login("ann", USERS.ann));
    expect(await other.exists("/mortal")).toBeUndefined();
  });

  test("refuses a session without a login", async () => {
    const session = openFor(required.server.address);
    expect(await rejection(session.getData("/"))).toMatchObject({ reason: "sasl-required" });
  });

  test("refuses a session that has only a digest credential", async () => {
    const auth = [{ scheme: "digest", credential: Buffer.from("bob:bobsecret") }];
    const session = openFor(required.server.address, { auth });
    expect(await rejection(session.create("/x", null))).toMatchObject({ reason: "sasl-required" });
  });
});

test("a server with enforce.auth.schemes takes sessions that log in", async () => {
  const config = { "enforce.auth.enabled": "true", "enforce.auth.schemes": "sasl" };
  const strict = await startSaslServer(USERS, { config });
  try {
    const session = openFor(strict.server.address, login("bob", "bobsecret"));
    expect(await saslIds(session)).toEqual(["bob"]);
    await session.close();
    const other = openFor(strict.server.address);
    expect(await rejection(other.getData("/"))).toMatchObject({ reason: "sasl-required" });
  } finally {
    await strict.stop();
  }
});

test("ACLs name the user, and keep others out", async () => {
  const [bob, ann] = [
    openFor(offered.server.address, login("bob", "bobsecret")),
    openFor(offered.server.address, login("ann", USERS.ann)),
  ];
  await bob.create("/bobs", Buffer.from("x"), {
    acl: [{ perms: Permission.all, scheme: "auth", id: "" }],
  });
  expect((await bob.getAcl("/bobs")).acl).toEqual([
    { perms: Permission.all, scheme: "sasl", id: "bob" },
  ]);
  expect(await rejection(ann.getData("/bobs"))).toMatchObject({ reason: "no-auth" });
});

describe("when the connection is lost", () => {
  test("a restarted server gets the login again, and the session goes on as the same user", async () => {
    const server = await startSaslServer(USERS, { isRequired: true });
    try {
      const session = openFor(server.server.address, login("bob", "bobsecret"));
      await session.create("/mortal", null, { mode: "ephemeral" });
      const { id } = session;
      await server.server.restart();
      expect(await saslIds(session)).toEqual(["bob"]);
      expect(session.id).toBe(id);
      expect((await session.exists("/mortal"))?.ephemeralOwner).toBe(id);
    } finally {
      await server.stop();
    }
  });

  test("a session of an ensemble logs in on the next server, and its watch fires there", async () => {
    const fleet: SaslEnsemble = await startSaslEnsemble(USERS, { isRequired: true });
    const { ensemble } = fleet;
    try {
      const session = openFor(ensemble.connectString, login("bob", "bobsecret"));
      const acl = [{ perms: Permission.all, scheme: "sasl", id: "bob" }];
      await session.create("/watched", Buffer.from("1"), { acl });
      const events: string[] = [];
      await session.getData("/watched", { watch: ({ type }) => void events.push(type) });
      const first = session.server;
      const attached = ensemble.servers.find(({ address }) => address === first);
      await attached?.kill();
      expect(await saslIds(session)).toEqual(["bob"]);
      expect(session.server).not.toBe(first);
      await session.setData("/watched", Buffer.from("2"));
      await eventually(() => expect(events).toEqual(["data-changed"]));
      expect(session.state).toBe("connected");
    } finally {
      await fleet.stop();
    }
  });
});
