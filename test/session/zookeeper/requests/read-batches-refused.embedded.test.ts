import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { CallOptions, Session } from "../../../../src/session/session.ts";
import { Opcode } from "../../../../src/wire/protocol.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  type FakeReply,
  type FakeRequest,
  type FakeServer,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

const UNIMPLEMENTED = -6;
const MARSHALLING_ERROR = -5;
const BAD_ARGUMENTS = -8;
const THROTTLED = -127;
const SESSION_EXPIRED = -112;
const SESSION_MOVED = -118;
const STAT = Buffer.alloc(68);
const DONE = Buffer.from("ffffffff01ffffffff", "hex");
/** So many plain reads behind each other make a batch. */
const FEWEST = 16;
/** The most reads in a batch. */
const MOST = 64;

let server: FakeServer;
/** What is done with a multiRead; left out: it is answered. */
let onMultiRead: ((request: FakeRequest, reply: FakeReply) => unknown) | undefined;

beforeEach(async () => {
  onMultiRead = undefined;
  server = await startFakeServer({
    srvr: "Zookeeper version: 3.8.0, built on some day\n",
    onRequest: answer,
  });
  onTestFinished(() => server.close());
});

/** Every znode there is holds its own path. */
function answer(request: FakeRequest, reply: FakeReply): unknown {
  const { opcode, body } = request;
  if (opcode === Opcode.getData) return reply.ok(dataOf(textAt(body, 0)));
  if (opcode === Opcode.setData) return reply.ok(STAT);
  if (opcode !== Opcode.multiRead) return false;
  return onMultiRead === undefined ? answerBatch(request, reply) : onMultiRead(request, reply);
}

function answerBatch({ body }: FakeRequest, reply: FakeReply): void {
  const results = pathsOf(body).flatMap((path) => [header(Opcode.getData), dataOf(path)]);
  reply.ok(Buffer.concat([...results, DONE]));
}

/** The paths of a multiRead. */
function pathsOf(body: Buffer): string[] {
  const paths: string[] = [];
  for (let at = 0; body[at + 4] === 0; at += 9 + 4 + Buffer.byteLength(paths.at(-1) ?? "") + 1) {
    paths.push(textAt(body, at + 9));
  }
  return paths;
}

function textAt(body: Buffer, at: number): string {
  return body.toString("utf8", at + 4, at + 4 + body.readInt32BE(at));
}

function dataOf(path: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(path.length);
  return Buffer.concat([length, Buffer.from(path), STAT]);
}

function header(type: number): Buffer {
  const bytes = Buffer.from("000000000000000000", "hex");
  bytes.writeInt32BE(type);
  return bytes;
}

function read(session: Session, count: number, options?: CallOptions): Promise<string>[] {
  return Array.from({ length: count }, async (_, i) =>
    String((await session.getData(`/n${i}`, options)).data),
  );
}

function expected(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `/n${i}`);
}

function asked(opcode?: number): number[] {
  const all = server.connections.flatMap(({ opcodes }) => opcodes);
  return opcode === undefined ? all : all.filter((each) => each === opcode);
}

function handshakes(): number {
  return server.connections.filter(({ handshake }) => handshake !== undefined).length;
}

function questions(): number {
  return server.connections.length - handshakes();
}

/** A session that has asked the server what it is; its first batch has not left. */
async function openInformed(options: Partial<SessionOptions> = {}): Promise<Session> {
  const session = openFor(server.address, options);
  await session.connected();
  await Promise.all(read(session, FEWEST));
  await session.knows("multiRead");
  expect(asked(Opcode.multiRead)).toEqual([]);
  return session;
}

/** A session whose server has answered a batch. */
async function openAcquainted(options: Partial<SessionOptions> = {}): Promise<Session> {
  const session = await openInformed(options);
  await Promise.all(read(session, FEWEST));
  expect(asked(Opcode.multiRead)).toHaveLength(1);
  return session;
}

describe("a server that may not have multiRead", () => {
  test.each([
    { what: "one of 3.5", srvr: "Zookeeper version: 3.5.9, built on some day\n" },
    {
      what: "one that does not say what it is",
      srvr: "srvr is not executed because it is not in the whitelist.\n",
    },
  ])("$what is asked once what it is, and gets plain reads", async ({ srvr }) => {
    server.options.srvr = srvr;
    const session = openFor(server.address);
    await session.connected();
    for (let i = 0; i < 3; i++) {
      expect(await Promise.all(read(session, 1_000))).toEqual(expected(1_000));
      await eventually(() => questions() === 1);
    }
    expect(asked()).toEqual(Array(3_000).fill(Opcode.getData));
    expect(server.connections).toHaveLength(2);
  });

  test("is not asked for a few reads", async () => {
    const session = openFor(server.address);
    await session.connected();
    for (let i = 0; i < 3; i++) await Promise.all(read(session, FEWEST - 1));
    expect(server.connections).toHaveLength(1);
  });

  const refusals = [UNIMPLEMENTED, MARSHALLING_ERROR, BAD_ARGUMENTS];
  test.each(refusals)("refuses a batch (%d): nothing overtakes its reads", async (code) => {
    onMultiRead = (_, reply) => reply.error(code);
    const lines: string[] = [];
    const session = await openInformed({ trace: (line) => lines.push(line) });
    const before = asked().length;
    const reads = read(session, 40);
    const written = session.setData("/n0", null);
    expect(await Promise.all(reads)).toEqual(expected(40));
    await written;
    const { multiRead, getData, setData } = Opcode;
    expect(asked().slice(before)).toEqual([multiRead, ...Array(40).fill(getData), setData]);
    expect(lines.filter((line) => line.startsWith("multiRead -> "))).toHaveLength(1);
    // Not here any more, not even after another handshake.
    server.connections[0]?.close();
    expect(await Promise.all(read(session, 40))).toEqual(expected(40));
    expect(asked(Opcode.multiRead)).toHaveLength(1);
  });

  test("refuses a batch though it has answered others before", async () => {
    const session = await openAcquainted();
    onMultiRead = (_, reply) => reply.error(UNIMPLEMENTED);
    expect(await Promise.all(read(session, 200))).toEqual(expected(200));
    const refused = asked(Opcode.multiRead).length;
    expect(await Promise.all(read(session, 200))).toEqual(expected(200));
    expect(asked(Opcode.multiRead)).toHaveLength(refused);
  });

  test("answers at the address of one that had it: the first batch of each connection is a trial", async () => {
    const session = await openAcquainted();
    server.connections[0]?.close();
    await eventually(() => handshakes() === 2 && session.state === "connected");
    onMultiRead = (_, reply) => reply.close();
    const reads = read(session, 100);
    await session.setData("/n0", null);
    expect(await Promise.all(reads)).toEqual(expected(100));
    expect(asked(Opcode.multiRead)).toHaveLength(2);
    expect(handshakes()).toBe(3);
  });

  test("hangs up on the first batch: no more than its reads notice, and it is the last", async () => {
    onMultiRead = (_, reply) => reply.close();
    const session = await openInformed();
    const reads = read(session, 40);
    await session.setData("/n0", null);
    expect(await Promise.all(reads)).toEqual(expected(40));
    expect(await Promise.all(read(session, 40))).toEqual(expected(40));
    expect(asked(Opcode.multiRead)).toHaveLength(1);
  });

  const [first, rest] = [Buffer.concat([header(Opcode.getData), dataOf("/n0")]), Buffer.alloc(9)];
  test.each([
    { what: "too few results", body: Buffer.concat([first, DONE]) },
    {
      what: "another kind of result",
      body: Buffer.concat([first, header(Opcode.getChildren), rest]),
    },
    { what: "an error that is none", body: Buffer.concat([first, header(Opcode.error), rest]) },
    { what: "a header cut short", body: Buffer.concat([first, rest.subarray(0, 5)]) },
    { what: "too many results", body: undefined },
  ])("answers with $what: the rest is read again, one by one", async ({ body }) => {
    const session = await openAcquainted();
    onMultiRead = (_, reply) => {
      if (body !== undefined) return reply.ok(body);
      const results = Array.from({ length: FEWEST + 1 }, (_, i) => [
        header(Opcode.getData),
        dataOf(`/n${i}`),
      ]);
      return reply.ok(Buffer.concat([...results.flat(), DONE]));
    };
    expect(await Promise.all(read(session, FEWEST))).toEqual(expected(FEWEST));
    await eventually(() => handshakes() === 2);
    expect(await Promise.all(read(session, FEWEST))).toEqual(expected(FEWEST));
    expect(asked(Opcode.multiRead)).toHaveLength(2);
  });

  test("cuts one answer short: that read fails as it would alone, the others are read again", async () => {
    onMultiRead = (_, reply) => reply.ok(Buffer.concat([first, header(Opcode.getData), rest]));
    const session = await openInformed();
    const [one, two, ...others] = read(session, FEWEST);
    expect(await rejection(two as Promise<string>)).toMatchObject({
      reason: "malformed-reply",
      path: "/n1",
    });
    expect([await one, ...(await Promise.all(others))]).toEqual(
      expected(FEWEST).filter((path) => path !== "/n1"),
    );
  });
});

describe("a batch", () => {
  test.each([
    { which: "first", openSession: openInformed },
    { which: "second", openSession: openAcquainted },
  ])(
    "that is throttled, the $which: each read fails as it would alone, and batches stay",
    async ({ openSession }) => {
      const session = await openSession();
      const before = asked().length;
      server.options.onRequest = (_, reply) => reply.error(THROTTLED);
      const alone = await rejection(session.getData("/n7"));
      const errors = await Promise.all(read(session, FEWEST).map(rejection));
      expect({ ...(errors[7] as Error) }).toEqual({ ...(alone as Error) });
      expect(errors.map((error) => (error as { path: string }).path)).toEqual(expected(FEWEST));
      server.options.onRequest = answer;
      expect(await Promise.all(read(session, FEWEST))).toEqual(expected(FEWEST));
      expect(asked().slice(before)).toEqual([Opcode.getData, Opcode.multiRead, Opcode.multiRead]);
    },
  );

  test("of a session that has moved is repeated on another connection", async () => {
    const session = await openAcquainted();
    onMultiRead = (_, reply) => reply.error(SESSION_MOVED);
    expect(await Promise.all(read(session, 50))).toEqual(expected(50));
    expect(handshakes()).toBe(2);
  });

  test("of a session that has expired fails with it", async () => {
    const session = await openAcquainted();
    onMultiRead = (_, reply) => reply.error(SESSION_EXPIRED);
    const errors = await Promise.all(read(session, 50).map(rejection));
    for (const error of errors) expect(error).toMatchObject({ reason: "session-expired" });
    expect(errors[7]).toMatchObject({ path: "/n7" });
  });

  test("is lost with its connection no more often than other requests", async () => {
    const session = await openAcquainted();
    const hangUp = ({ connection }: FakeRequest) => connection.close();
    server.options.onRequest = hangUp;
    const errors = await Promise.all(read(session, 20).map(rejection));
    for (const error of errors)
      expect(error).toMatchObject({ reason: "connection-loss", sent: true });
    server.options.onRequest = answer;
    expect(await Promise.all(read(session, 20))).toEqual(expected(20));
  });

  test("leaves without the reads that were given up before", async () => {
    const session = await openAcquainted();
    const paths: string[] = [];
    onMultiRead = (request, reply) => {
      paths.push(...pathsOf(request.body));
      answerBatch(request, reply);
    };
    const stop = new AbortController();
    const before = asked().length;
    const [first, dropped, last] = [
      read(session, 5),
      read(session, MOST - 5 + MOST, { signal: stop.signal }),
      read(session, 5),
    ];
    stop.abort();
    for (const error of await Promise.all(dropped.map(rejection)))
      expect(error).toMatchObject({ reason: "interrupted" });
    expect(await Promise.all([...first, ...last])).toEqual([...expected(5), ...expected(5)]);
    // The first batch is the five and some of the dropped ones, the next only dropped ones, which
    // are not sent, and the last five are too few for a batch.
    expect(paths).toEqual(expected(5));
    expect(asked().slice(before)).toEqual([Opcode.multiRead, ...Array(5).fill(Opcode.getData)]);
  });

  test("outlives reads that are given up while it is on its way", async () => {
    const session = await openAcquainted();
    let release = () => {};
    onMultiRead = (request, reply) => {
      release = () => answerBatch(request, reply);
    };
    const before = asked(Opcode.multiRead).length;
    const stop = new AbortController();
    const kept = read(session, 5);
    const aborted = rejection(session.getData("/aborted", { signal: stop.signal }));
    const late = rejection(session.getData("/late", { timeoutMs: 50 }));
    const others = read(session, 9);
    await eventually(() => asked(Opcode.multiRead).length > before);
    stop.abort();
    const error = (await aborted) as { outcome: Promise<{ data: Buffer }> };
    expect(error).toMatchObject({ reason: "interrupted" });
    expect(await late).toMatchObject({ reason: "deadline", message: "no answer: /late (50 ms)" });
    release();
    expect(await Promise.all([...kept, ...others])).toEqual([...expected(5), ...expected(9)]);
    expect(String((await error.outcome).data)).toBe("/aborted");
    expect(server.connections.filter(({ isOpen }) => isOpen)).toHaveLength(1);
  });

  test("waits for those before it, so that a server holds few long answers at a time", async () => {
    const session = await openAcquainted();
    await eventually(async () => {
      const asked = performance.now();
      await Promise.all(read(session, FEWEST));
      return performance.now() - asked < 4;
    });
    const held: (() => void)[] = [];
    let received = 0;
    onMultiRead = (request, reply) => {
      received += pathsOf(request.body).length;
      held.push(() => answerBatch(request, reply));
    };
    const reads = read(session, 5_000);
    await eventually(() => received > 0);
    // Whatever else was meant to leave in that turn is here before this one's answer.
    const witness = openFor(server.address);
    await witness.getData("/n0");
    expect(received).toBe(4 * MOST);
    onMultiRead = undefined;
    for (const release of held) release();
    expect(await Promise.all(reads)).toEqual(expected(5_000));
  });
});
