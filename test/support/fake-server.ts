import { createServer, type Server, type Socket } from "node:net";
import { freePort } from "./free-port.ts";

// The frames are put together here byte by byte, and not by the code under test: a mistake there
// must not cancel out.

const OP = {
  notification: 0,
  sync: 9,
  ping: 11,
  auth: 100,
  setWatches: 101,
  setWatches2: 105,
  closeSession: -11,
} as const;
const WRITES: readonly number[] = [1, 2, 5, 7, 14, 15, 16, 19, 21, OP.closeSession];
const UNIMPLEMENTED = -6;

export interface FakeRequest {
  readonly xid: number;
  readonly opcode: number;
  /** What follows the header. */
  readonly body: Buffer;
  readonly connection: FakeConnection;
}

/** Ways to answer one request, now or later, once or not at all. */
export interface FakeReply {
  error(code: number): void;
  ok(body?: Buffer): void;
  /** Bytes as they are, without a length or a header. */
  raw(bytes: Buffer): void;
  /** A watch event on the same connection. */
  event(type: number, state: number, path: string): void;
  close(): void;
}

/**
 * `normal` accepts new and old sessions; `silent` says nothing; `expired` refuses the session and closes, `close` only
 * closes. A function gets the ConnectRequest and gives the body of the answer, or null for none.
 */
type Handshake =
  | "normal"
  | "silent"
  | "expired"
  | "close"
  | ((request: Buffer, connection: FakeConnection) => Buffer | null);

export interface FakeServerOptions {
  handshake?: Handshake;
  /** The session timeout granted; left out: whatever the client asks for. */
  timeoutMs?: number;
  /** Pings are answered without asking {@link onRequest}; true unless told otherwise. */
  answerPings?: boolean;
  /** The answer to the four-letter word `srvr`; left out: none. */
  srvr?: string;
  /** The answer to another four-letter word; undefined: the server hangs up. */
  word?: (word: string) => string | undefined;
  onConnection?: (connection: FakeConnection) => void;
  /**
   * Answers a request; returns `false` to leave it to the server, which says "unimplemented" to
   * most.
   */
  onRequest?: (request: FakeRequest, reply: FakeReply) => unknown;
}

/** Starts a server that says what it is told to. The caller closes it. */
export async function startFakeServer(options: FakeServerOptions = {}): Promise<FakeServer> {
  const server = new FakeServer(await freePort(), options);
  await server.listen();
  return server;
}

/** A server without a tree behind it. Its `options` may be changed at any time. */
export class FakeServer {
  readonly port: number;
  readonly address: string;
  readonly options: FakeServerOptions;
  readonly connections: FakeConnection[] = [];
  /** Goes up with every write; every reply carries it. */
  zxid = 0x1_0000_0000n;
  #server: Server | undefined;

  constructor(port: number, options: FakeServerOptions) {
    this.port = port;
    this.address = `127.0.0.1:${port}`;
    this.options = { ...options };
  }

  async listen(): Promise<void> {
    const server = createServer({ noDelay: true }, (socket) => {
      const connection = new FakeConnection(this, socket, BigInt(this.connections.length));
      this.connections.push(connection);
      this.options.onConnection?.(connection);
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, "127.0.0.1", resolve);
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) =>
      this.#server ? this.#server.close(() => resolve()) : resolve(),
    );
    this.#server = undefined;
    for (const connection of this.connections) connection.close();
    await closed;
  }
}

/** One client's connection, and all that came over it. */
export class FakeConnection {
  /** The client's ConnectRequest, once it has come. */
  handshake:
    | {
        lastZxid: bigint;
        timeoutMs: number;
        sessionId: bigint;
        password: Buffer;
        readOnly: boolean;
      }
    | undefined;
  /** Every request in the order of arrival, pings too. */
  readonly requests: FakeRequest[] = [];
  readonly #server: FakeServer;
  readonly #socket: Socket;
  readonly #newSessionId: bigint;
  /** Requests without an answer yet, in order. */
  readonly #unanswered: FakeRequest[] = [];
  #received: Buffer = Buffer.alloc(0);

  constructor(server: FakeServer, socket: Socket, index: bigint) {
    this.#server = server;
    this.#socket = socket;
    // As from a real server: its own number in the highest byte, then a time; more than a double
    // can hold.
    this.#newSessionId = 0x0100_018f_3a7c_0000n + index;
    socket.on("error", () => {});
    socket.on("data", (chunk) => this.#receive(chunk));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  /** What was asked, in order, without the heartbeats. */
  get opcodes(): number[] {
    return this.requests
      .filter((request) => !isHeartbeat(request))
      .map((request) => request.opcode);
  }

  raw(bytes: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  event(type: number, state: number, path: string): void {
    const event = Buffer.concat([int(type), int(state), buffer(Buffer.from(path))]);
    this.raw(frame(int(-1), long(-1n), int(0), event));
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    const { srvr, word } = this.#server.options;
    if (srvr !== undefined && this.#received.equals(Buffer.from("srvr")))
      return void this.#socket.end(srvr);
    const begin = this.#received.toString("latin1", 0, 4);
    if (word && this.handshake === undefined && /^[a-z]{4}$/.test(begin))
      return void this.#socket.end(word(begin) ?? "");
    while (this.#received.length >= 4) {
      const end = 4 + this.#received.readInt32BE(0);
      if (this.#received.length < end) return;
      const body = this.#received.subarray(4, end);
      this.#received = this.#received.subarray(end);
      if (this.handshake === undefined) this.#shakeHands(body);
      else this.#serve(body);
    }
  }

  #shakeHands(request: Buffer): void {
    this.handshake = {
      lastZxid: request.readBigInt64BE(4),
      timeoutMs: request.readInt32BE(12),
      sessionId: request.readBigInt64BE(16),
      password: request.subarray(28, 44),
      readOnly: request[44] === 1,
    };
    const { handshake = "normal", timeoutMs = this.handshake.timeoutMs } = this.#server.options;
    if (typeof handshake === "function") {
      const answer = handshake(request, this);
      if (answer !== null) this.raw(frame(answer));
      return;
    }
    // Who leaves out the read-only flag gets an answer without one.
    const flag = Buffer.alloc(request.length > 44 ? 1 : 0);
    const isNew = this.handshake.sessionId === 0n;
    const sessionId = isNew ? this.#newSessionId : this.handshake.sessionId;
    const password = isNew
      ? Buffer.concat([long(~sessionId), long(sessionId)])
      : this.handshake.password;
    if (handshake === "normal")
      this.raw(frame(int(0), int(timeoutMs), long(sessionId), buffer(password), flag));
    if (handshake === "expired")
      this.#socket.end(frame(int(0), int(0), long(0n), buffer(Buffer.alloc(16)), flag));
    if (handshake === "close") this.close();
  }

  #serve(frameBody: Buffer): void {
    const request: FakeRequest = {
      xid: frameBody.readInt32BE(0),
      opcode: frameBody.readInt32BE(4),
      body: frameBody.subarray(8),
      connection: this,
    };
    this.requests.push(request);
    if (WRITES.includes(request.opcode)) this.#server.zxid++;
    const reply = this.#replyTo(request);
    const { answerPings = true, onRequest } = this.#server.options;
    this.#unanswered.push(request);
    if (isHeartbeat(request)) {
      if (answerPings) this.#answerHeartbeats();
      return;
    }
    if (onRequest !== undefined && onRequest(request, reply) !== false) return;
    this.#answer(request.opcode, reply);
  }

  #answer(opcode: number, reply: FakeReply): void {
    const hasEmptyAnswer: readonly number[] = [
      OP.ping,
      OP.auth,
      OP.setWatches,
      OP.setWatches2,
      OP.closeSession,
    ];
    if (hasEmptyAnswer.includes(opcode)) reply.ok();
    else reply.error(UNIMPLEMENTED);
    if (opcode === OP.closeSession) this.#socket.end();
  }

  /** In line, as a real server does: a beat is answered when everything before it has been. */
  #answerHeartbeats(): void {
    for (
      let next = this.#unanswered[0];
      next !== undefined && isHeartbeat(next);
      next = this.#unanswered[0]
    ) {
      this.#replyTo(next).ok(next.opcode === OP.sync ? next.body : undefined);
    }
  }

  #answered(request: FakeRequest, bytes: Buffer): void {
    this.raw(bytes);
    const index = this.#unanswered.indexOf(request);
    if (index >= 0) this.#unanswered.splice(index, 1);
    if (this.#server.options.answerPings ?? true) this.#answerHeartbeats();
  }

  #replyTo(request: FakeRequest): FakeReply {
    const { xid } = request;
    const header = (code: number) => Buffer.concat([int(xid), long(this.#server.zxid), int(code)]);
    return {
      error: (code) => this.#answered(request, frame(header(code))),
      ok: (body = Buffer.alloc(0)) => this.#answered(request, frame(header(0), body)),
      raw: (bytes) => this.#answered(request, bytes),
      event: (type, state, path) => this.event(type, state, path),
      close: () => this.close(),
    };
  }
}

/** A ping, or the sync of the root that shows that there is a leader. */
export function isHeartbeat({ opcode, body }: Pick<FakeRequest, "opcode" | "body">): boolean {
  return opcode === OP.ping || (opcode === OP.sync && body.subarray(4).toString() === "/");
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function buffer(value: Buffer): Buffer {
  return Buffer.concat([int(value.length), value]);
}

function frame(...parts: readonly Buffer[]): Buffer {
  return buffer(Buffer.concat(parts));
}
