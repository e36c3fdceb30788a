/** SASL DIGEST-MD5 on Apache ZooKeeper and on the embedded server: the same answers. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/embedded/server.ts";
import {
  isServerProof,
  readChallenge,
  respond,
  SASL_REALM,
  writeChallenge,
} from "../../src/wire/digest-md5.ts";
import { JuteReader } from "../../src/wire/jute.ts";
import { ErrorCode, Opcode, Xid } from "../../src/wire/protocol.ts";
import { spawnJava } from "../support/java.ts";
import { type SaslServer, startSaslServer } from "../support/sasl-server.ts";
import {
  ended,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "../support/tracked-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { RawClient, type Reply } from "./raw-client.ts";

const USERS = { bob: "bobsecret", ann: "s,p=a:c e" };
const directory = temporaryDirectory("client-jaas");
const saslUsers = new Map(Object.entries(USERS));

/** The same three servers, real and embedded: SASL is offered, required, unknown. */
type Offer = "offered" | "required" | "unknown";
const addresses: Record<string, Record<Offer, string>> = {};
let real: SaslServer[] = [];
let plain: ZooKeeperServer | undefined;
let embedded: EmbeddedServer[] = [];

beforeAll(async () => {
  [real, plain, embedded] = await Promise.all([
    Promise.all([startSaslServer(USERS), startSaslServer(USERS, { isRequired: true })]),
    startServer(),
    Promise.all([
      startEmbeddedServer({ saslUsers }),
      startEmbeddedServer({ saslUsers, requireSasl: true }),
      startEmbeddedServer(),
    ]),
  ]);
  const [offered = "", required = ""] = real.map(({ server }) => server.address);
  const [ours = "", strict = "", simple = ""] = embedded.map(({ address }) => address);
  addresses.real = { offered, required, unknown: plain.address };
  addresses.embedded = { offered: ours, required: strict, unknown: simple };
});
afterAll(async () => {
  await Promise.all([...real, ...embedded, plain].map((server) => server?.stop()));
  removeDirectory(directory);
});

describe.each(["real", "embedded"])("SASL DIGEST-MD5 on a server that is %s", (kind) => {
  const open = (offer: Offer) => RawClient.open(addresses[kind]?.[offer] ?? "");

  test("a login proves both sides, and the user shows in whoAmI", async () => {
    const client = await open("offered");
    const { proof, reply } = await logIn(client, "ann", USERS.ann);
    expect(reply.err).toBe(0);
    expect(isServerProof(tokenOf(reply) ?? Buffer.alloc(0), proof)).toBe(true);
    expect(await identities(client)).toContainEqual(["sasl", "ann"]);
    client.connection.drop();
  });

  test("an ACL for a user keeps others out", async () => {
    const [bob, other] = [await open("offered"), await open("offered")];
    await logIn(bob, "bob", USERS.bob);
    const acl = [{ perms: 31, scheme: "sasl", id: "bob" }];
    expect(await bob.create(`/${kind}-bob`, { acl })).toMatchObject({ err: 0 });
    expect((await other.getData(`/${kind}-bob`)).err).toBe(ErrorCode.noAuth);
    expect((await bob.getData(`/${kind}-bob`)).err).toBe(0);
    for (const client of [bob, other]) client.connection.drop();
  });

  test.each([
    ["a wrong password", "bob", "wrong"],
    ["an unknown user", "eve", "evesecret"],
  ])("%s is refused with an empty token, and the server hangs up", async (_, name, password) => {
    const client = await open("offered");
    const { reply } = await logIn(client, name, password);
    expect([reply.err, tokenOf(reply)]).toEqual([ErrorCode.authFailed, null]);
    expect(await client.connection.untilClosed()).toEqual([]);
  });

  test("a second login on one connection is refused", async () => {
    const client = await open("offered");
    await logIn(client, "bob", USERS.bob);
    expect((await sasl(client, Buffer.alloc(0))).err).toBe(ErrorCode.authFailed);
    expect(await client.connection.untilClosed()).toEqual([]);
  });

  test("where SASL is required every other request ends the connection", async () => {
    for (const [opcode, xid] of [
      [Opcode.ping, Xid.ping],
      [Opcode.getChildren],
      [Opcode.closeSession],
    ]) {
      const client = await open("required");
      client.send(
        opcode ?? 0,
        (writer) => {
          if (opcode === Opcode.getChildren) {
            writer.string("/");
            writer.boolean(false);
          }
        },
        xid,
      );
      expect((await client.reply()).err).toBe(ErrorCode.sessionClosedRequireSaslAuth);
      expect(await client.connection.untilClosed()).toEqual([]);
    }
    const client = await open("required");
    await logIn(client, "bob", USERS.bob);
    expect((await client.exists("/")).err).toBe(0);
    client.connection.drop();
  });

  test("a server that does not do SASL answers without a token and goes on", async () => {
    const client = await open("unknown");
    const reply = await sasl(client, Buffer.alloc(0));
    expect([reply.err, tokenOf(reply)]).toEqual([0, null]);
    expect((await client.exists("/")).err).toBe(0);
    const acl = [{ perms: 31, scheme: "sasl", id: "bob" }];
    expect(await client.create("/named", { acl })).toMatchObject({ err: ErrorCode.invalidAcl });
    client.connection.drop();
  });

  test("addauth sasl is refused", async () => {
    const client = await open("offered");
    client.send(
      Opcode.auth,
      (writer) => {
        writer.int(0);
        writer.string("sasl");
        writer.buffer(Buffer.from("bob:bobsecret"));
      },
      Xid.auth,
    );
    expect((await client.reply()).err).toBe(ErrorCode.authFailed);
    expect(await client.connection.untilClosed()).toEqual([]);
  });
});

/** Our challenge is the one that real servers send, but for the nonce. */
test("both send the same challenge", async () => {
  const challenges = await Promise.all(
    Object.values(addresses).map(async ({ offered }) => {
      const client = await RawClient.open(offered);
      const token = tokenOf(await sasl(client, Buffer.alloc(0))) ?? Buffer.alloc(0);
      client.connection.drop();
      return String(token).replace(readChallenge(token).nonce, "NONCE");
    }),
  );
  expect(challenges).toEqual([String(writeChallenge("NONCE")), String(writeChallenge("NONCE"))]);
  expect(challenges[0]).toContain(SASL_REALM);
});

describe.each(["real", "embedded"])("peers on a server that is %s", (kind) => {
  const address = () => addresses[kind]?.offered ?? "";

  test("kazoo logs in, and its ACL keeps others out", async () => {
    const program = join(import.meta.dirname, "../embedded/peers/kazoo_sasl.py");
    const words = ["-B", program, address(), `/${kind}-kazoo`];
    const child = spawnTracked("/usr/bin/python3", words, { stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout ?? Readable.from([])),
      text(child.stderr ?? Readable.from([])),
      ended(child),
    ]);
    expect(stdout, stderr).toBe(`/${kind}-kazoo\nb'for bob'\nNoAuth\nend\n`);
  });

  test("the Java client logs in with a JAAS file", async () => {
    const jaas = join(directory, "client.jaas");
    const module = "org.apache.zookeeper.server.auth.DigestLoginModule";
    writeFileSync(jaas, `Client { ${module} required username="ann" password="${USERS.ann}"; };\n`);
    const child = spawnJava(
      [
        `-Djava.security.auth.login.config=${jaas}`,
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
        "org.apache.zookeeper.ZooKeeperMain",
        "-server",
        address(),
        "whoami",
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    const [stdout] = await Promise.all([text(child.stdout ?? Readable.from([])), ended(child)]);
    expect(stdout).toMatch(/^sasl: ann$/m);
  });
});

function sasl(client: RawClient, token: Buffer): Promise<Reply> {
  return client.call(Opcode.sasl, (writer) => writer.buffer(token));
}

function tokenOf(reply: Reply): Buffer | null {
  return new JuteReader(reply.body).buffer();
}

async function logIn(
  client: RawClient,
  username: string,
  password: string,
): Promise<{ readonly reply: Reply; readonly proof: string }> {
  const challenge = readChallenge(tokenOf(await sasl(client, Buffer.alloc(0))) ?? Buffer.alloc(0));
  const { message, serverProof } = respond(challenge, { username, password }, "unguessable");
  return { reply: await sasl(client, message), proof: serverProof };
}

async function identities(client: RawClient): Promise<string[][]> {
  const { body } = await client.call(Opcode.whoAmI);
  const reader = new JuteReader(body);
  return Array.from({ length: reader.int() }, () => [reader.string() ?? "", reader.string() ?? ""]);
}
