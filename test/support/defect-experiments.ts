import { onTestFinished } from "vitest";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { SessionOptions } from "../../src/session/options.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { eventually, sleep } from "./eventually.ts";
import {
  type FakeConnection,
  type FakeReply,
  type FakeRequest,
  FakeServer,
  type FakeServerOptions,
  startFakeServer,
} from "./fake-server.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { freshChroot, sharedServer } from "./shared-server.ts";

// The experiments that show the defects of node-zookeeper-client 1.1.3. Two suites run each of
// them: one with the plain package, which has the defect, one with our session, which must not.
// Everything made here ends with its test.

export const Op = {
  create: 1,
  delete: 2,
  exists: 3,
  sync: 9,
  ping: 11,
  auth: 100,
  setWatches: 101,
  closeSession: -11,
} as const;
const NO_NODE = -101;

/** Long enough to notice that something never happens. */
export const NEVER_MS = 500;
/** For experiments in which a session's time runs out. */
export const SHORT_SESSION_MS = 1_000;

/** Every error number that ZooKeeper has and the package does not know. */
export const UNKNOWN_CODES = [
  -13, -14, -116, -118, -119, -120, -121, -122, -123, -124, -125, -127,
] as const;
/** More watches than one request to a server may name, by their paths: 11,000 of 100 bytes. */
export const MANY_PATHS = Array.from(
  { length: 11_000 },
  (_, index) => `/${String(index).padStart(99, "n")}`,
);

/**
 * Servers and proxies of the running test, which must work again before a session can say goodbye.
 */
const scene = new Set<FakeServer | FaultProxy>();

/** A fake server that says no to `exists`, and to anything else what `options` say. */
export async function fake(options: FakeServerOptions = {}): Promise<FakeServer> {
  return onScene(await startFakeServer({ onRequest: answerExists, ...options }));
}

function answerExists({ opcode }: FakeRequest, reply: FakeReply): unknown {
  return opcode === Op.exists ? reply.error(NO_NODE) : false;
}

/** A fake server that treats requests of one kind in its own way; `nth` counts them from 1. */
function fakeWith(
  opcode: number,
  answer: (request: FakeRequest, reply: FakeReply, nth: number) => void,
): Promise<FakeServer> {
  let nth = 0;
  const onRequest = (request: FakeRequest, reply: FakeReply) =>
    request.opcode === opcode ? answer(request, reply, ++nth) : answerExists(request, reply);
  return fake({ onRequest });
}

/**
 * The shared real server behind a network that can fail; `direct` goes past it. Both are confined
 * to a new znode.
 */
export async function real(): Promise<{ proxy: FaultProxy; proxied: string; direct: string }> {
  const direct = await freshChroot();
  const proxy = onScene(await startFaultProxy(Number(sharedServer().split(":")[1])));
  return { proxy, proxied: `${proxy.address}${direct.slice(direct.indexOf("/"))}`, direct };
}

/** A network that can fail in front of a fake server. */
async function behindProxy(server: FakeServer): Promise<FaultProxy> {
  return onScene(await startFaultProxy(server.port));
}

/**
 * A session of ours. At the end of the test everything broken is mended first, so that the goodbye
 * is quick.
 */
export function open(connectString: string, options: Partial<SessionOptions> = {}): Session {
  const session = openSession({
    ...parseConnectString(connectString),
    timeoutMs: 10_000,
    ...options,
  });
  onTestFinished(async () => {
    for (const broken of scene) await mend(broken);
    await session.close();
  });
  return session;
}

function onScene<T extends FakeServer | FaultProxy>(part: T): T {
  scene.add(part);
  onTestFinished(async () => {
    scene.delete(part);
    await part.close();
  });
  return part;
}

async function mend(part: FakeServer | FaultProxy): Promise<void> {
  if (!(part instanceof FakeServer)) {
    part.heal();
    return part.listen();
  }
  Object.assign(part.options, { handshake: "normal", answerPings: true, onRequest: () => false });
  await part.listen().catch(() => {}); // it may be listening already
}

/** The connection that came last. */
export function lastConnection(server: FakeServer): FakeConnection {
  const connection = server.connections.at(-1);
  if (connection === undefined) throw new Error("nobody has connected");
  return connection;
}

/** Everything asked for on all connections, in order, without the pings. */
export function asked(server: FakeServer): number[] {
  return server.connections.flatMap((connection) => connection.opcodes);
}

export function pingsOf(server: FakeServer): number {
  return server.connections
    .flatMap(({ requests }) => requests)
    .filter(({ opcode }) => opcode === Op.ping).length;
}

/** The server accepts sessions, then says nothing more. */
export function silentServer(): Promise<FakeServer> {
  return fake({ answerPings: false, onRequest: () => {} });
}

/**
 * Of two addresses, the one tried first accepts the connection and never answers;
 * the other is well.
 */
export async function oneMuteOfTwo(): Promise<{ connectString: string; servers: FakeServer[] }> {
  const servers: FakeServer[] = [];
  const onConnection = () => {
    const count = servers.reduce((sum, { connections }) => sum + connections.length, 0);
    for (const server of servers) server.options.handshake = count === 1 ? "silent" : "normal";
  };
  servers.push(await fake({ onConnection }), await fake({ onConnection }));
  return { connectString: servers.map(({ address }) => address).join(","), servers };
}

/** Answers the first request with half a frame and closes; answers later requests correctly. */
export function halfFrameServer(): Promise<FakeServer> {
  return fakeWith(Op.exists, (_, reply, nth) => {
    if (nth > 1) return reply.error(NO_NODE);
    reply.raw(Buffer.concat([int(100), Buffer.alloc(50)]));
    setImmediate(() => reply.close());
  });
}

/** The server answers `exists` of `/-13` with error -13. */
export function errorServer(): Promise<FakeServer> {
  return fakeWith(Op.exists, ({ body }, reply) =>
    reply.error(Number(body.subarray(5, -1).toString())),
  );
}

/** A server that answers `sync`, as every server does. */
export function syncServer(): Promise<FakeServer> {
  return fakeWith(Op.sync, ({ body }, reply) => reply.ok(body));
}

/** Every answer to `exists` comes behind an event of type 5. */
export function strangeEventServer(): Promise<FakeServer> {
  return fakeWith(Op.exists, (_, reply) => {
    reply.event(5, 3, "/a");
    reply.error(NO_NODE);
  });
}

/**
 * How many times more processor time a read of a long pipeline takes than one of a short pipeline.
 * 1 is linear. The long pipeline must be longer than an array that V8 can shift in place.
 */
export async function growth(
  manyReads: number,
  pipeline: (reads: number) => Promise<unknown>,
): Promise<number> {
  const cost = async (reads: number) => {
    const before = process.cpuUsage();
    await pipeline(reads);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / reads;
  };
  // The least of several: whatever else the machine does makes them cost more, never less.
  const least = async (runs: number, reads: number) => {
    const costs: number[] = [];
    for (let run = 0; run < runs; run++) costs.push(await cost(reads));
    return Math.min(...costs);
  };
  const few = await least(5, 8_000);
  return (await least(3, manyReads)) / few;
}

/**
 * The server has got the handshake, and its answer is under way until the proxy is told to
 * resume.
 */
export async function answerUnderWay(): Promise<{
  server: FakeServer;
  proxy: FaultProxy;
  arrived: Promise<unknown>;
}> {
  const server = await fake();
  const proxy = await behindProxy(server);
  proxy.stall("to-client");
  return {
    server,
    proxy,
    arrived: eventually(() => lastConnection(server).handshake !== undefined),
  };
}

/**
 * The connection drops, the server turns the client away five times, and then takes it back.
 */
export async function turnAwayFiveTimes(server: FakeServer): Promise<void> {
  const before = server.connections.length;
  server.options.handshake = "close";
  server.options.onConnection = () => {
    if (server.connections.length > before + 5) server.options.handshake = "normal";
  };
  lastConnection(server).close();
  await eventually(
    () =>
      server.connections.length === before + 6 && lastConnection(server).handshake !== undefined,
  );
}

/**
 * For two session timeouts, or a little longer until it is enough, an event comes far more
 * often than a ping is due.
 */
export async function keepTalking(server: FakeServer, isEnough = () => true): Promise<void> {
  const [until, atMost] = [2, 4].map((times) => performance.now() + times * SHORT_SESSION_MS) as [
    number,
    number,
  ];
  while (performance.now() < until || (!isEnough() && performance.now() < atMost)) {
    lastConnection(server).event(3, 3, "/busy");
    await sleep(SHORT_SESSION_MS / 20);
  }
}

/** The server drops the connection of the first create, and refuses later ones. */
export function dropFirstCreate(): Promise<FakeServer> {
  return fakeWith(Op.create, (_, reply, nth) => (nth === 1 ? reply.close() : reply.error(NO_NODE)));
}

/**
 * Three requests are answered in one segment; with `withEvent` an event for `/watched` comes
 * before them in it.
 */
export function answerThreeAtOnce({ withEvent = false } = {}): Promise<FakeServer> {
  const xids: number[] = [];
  const event = frame(
    int(-1),
    Buffer.alloc(8),
    int(0),
    int(1),
    int(3),
    int(8),
    Buffer.from("/watched"),
  );
  return fakeWith(Op.exists, ({ xid, body }, reply) => {
    if (body.includes("/watched")) return reply.error(NO_NODE);
    if (xids.push(xid) < 3) return;
    const answers = xids.splice(0).map((each) => frame(int(each), Buffer.alloc(8), int(NO_NODE)));
    reply.raw(Buffer.concat(withEvent ? [event, ...answers] : answers));
  });
}

/** Closes the server while `during` runs; afterwards the server answers that the session expired. */
export async function expire(
  server: FakeServer,
  during: () => Promise<void> = async () => {},
): Promise<void> {
  await server.close();
  await during();
  server.options.handshake = "expired";
  await server.listen();
}

/** The server applies the request, and its reply is lost with the connection. */
export async function loseAnswer(
  proxy: FaultProxy,
  send: () => void,
  isDone: () => Promise<boolean>,
): Promise<void> {
  proxy.stall("to-client");
  send();
  await eventually(isDone);
  proxy.drop();
  proxy.resume();
}

/** Every session is accepted, and its connection dropped right afterwards. */
export function dropAfterHandshake(): Promise<FakeServer> {
  return fake({
    handshake: (request, connection) => {
      setImmediate(() => connection.close());
      const flag = Buffer.alloc(request.length > 44 ? 1 : 0);
      const sessionId = Buffer.from("0100018f3a7c0000", "hex");
      return Buffer.concat([
        int(0),
        request.subarray(12, 16),
        sessionId,
        int(16),
        Buffer.alloc(16, 7),
        flag,
      ]);
    },
  });
}

/** Answers the first request with a frame of negative length, later requests correctly. */
export function negativeLengthServer(): Promise<FakeServer> {
  return fakeWith(Op.exists, (_, reply, nth) =>
    nth > 1 ? reply.error(NO_NODE) : reply.raw(Buffer.concat([int(-5), Buffer.alloc(16)])),
  );
}

/** The names of the warnings that node gives until the test ends. */
export function watchWarnings(): string[] {
  const names: string[] = [];
  const listener = ({ name }: Error) => names.push(name);
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  return names;
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function frame(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([int(body.length), body]);
}
