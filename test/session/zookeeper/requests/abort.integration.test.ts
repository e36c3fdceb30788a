import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  ConflictError,
  ConnectionError,
  DeadlineError,
  InterruptedError,
} from "../../../../src/errors.ts";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { CallOptions, Session, WatchListener } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FakeReply, type FakeServer, startFakeServer } from "../../../support/fake-server.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/fault-proxy.ts";
import { fourLetterWord } from "../../../support/four-letter-word.ts";
import { freshChroot, sharedServer } from "../../../support/shared-server.ts";
import { collectUncaught } from "../../../support/uncaught.ts";

const OP = { create: 1, exists: 3, getData: 4, setData: 5 } as const;
const NODE_EXISTS = -110;
const STAT = Buffer.alloc(68);
const EMPTY_ZNODE = Buffer.concat([Buffer.from("ffffffff", "hex"), STAT]);

function open(options: SessionOptions): Session {
  const session = openSession(options);
  onTestFinished(() => session.close());
  return session;
}

/** The error a promise rejects with, taken at once so that it cannot surface as unhandled. */
function failureOf(promise: Promise<unknown>): Promise<InterruptedError | DeadlineError> {
  return promise.then(
    (value) => {
      throw new Error(`resolved with ${String(value)}`);
    },
    (error) => error,
  );
}

function text(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(value.length);
  return Buffer.concat([length, Buffer.from(value)]);
}

describe("against a server that keeps a record", () => {
  let fake: FakeServer;
  /** The answers that the server owes, in order; it gives none by itself. */
  let held: FakeReply[];

  beforeEach(async () => {
    held = [];
    fake = await startFakeServer({
      onRequest: ({ opcode }, reply) => (opcode === -11 ? false : held.push(reply)),
    });
  });

  afterEach(async () => {
    await fake.close();
  });

  function openFake(options: Partial<SessionOptions> = {}): Session {
    return open({ servers: [{ host: "127.0.0.1", port: fake.port }], ...options });
  }

  /** A session that has lost its server and finds it again when the fake's handshake is normal. */
  async function openSuspended(): Promise<Session> {
    const session = openFake();
    await session.connected();
    fake.options.handshake = "close";
    for (const connection of fake.connections) connection.close();
    await eventually(() => expect(session.state).toBe("suspended"));
    return session;
  }

  async function opcodesAfterReconnect(session: Session): Promise<number[]> {
    fake.options.handshake = "normal";
    await session.connected();
    const last = session.exists("/last");
    await eventually(() => expect(fake.connections.at(-1)?.opcodes.at(-1)).toBe(OP.exists));
    const opcodes = fake.connections.flatMap((connection) => connection.opcodes);
    for (const reply of held) reply.ok(STAT);
    await last;
    return opcodes;
  }

  test("a call whose signal is aborted already is never sent", async () => {
    const session = openFake();
    const failure = await failureOf(
      session.create("/a", null, { signal: AbortSignal.abort("no more") }),
    );
    expect(failure).toBeInstanceOf(InterruptedError);
    expect(failure).toMatchObject({ reason: "interrupted", cause: "no more", outcome: undefined });
    expect(await opcodesAfterReconnect(session)).toEqual([OP.exists]);
  });

  test.each(["while no server was met yet", "in the very turn it was made", "while suspended"])(
    "a call aborted %s is never sent; its neighbours are",
    async (when) => {
      const session = when === "while suspended" ? await openSuspended() : openFake();
      if (when === "in the very turn it was made") await session.connected();
      const controller = new AbortController();
      const { signal } = controller;
      const before = failureOf(session.setData("/before", null));
      const aborted = [
        failureOf(session.create("/a", null, { signal })),
        failureOf(session.getData("/a", { signal })),
      ];
      const after = failureOf(session.getData("/after"));
      controller.abort();
      for (const failure of await Promise.all(aborted)) {
        expect(failure).toBeInstanceOf(InterruptedError);
        expect(failure.outcome).toBeUndefined();
      }
      fake.options.handshake = "normal";
      await eventually(() => expect(held).toHaveLength(2));
      for (const reply of held) reply.error(NODE_EXISTS);
      for (const failure of await Promise.all([before, after]))
        expect(failure).toBeInstanceOf(ConflictError);
      expect(fake.connections.flatMap((connection) => connection.opcodes)).toEqual([
        OP.setData,
        OP.getData,
      ]);
    },
  );

  test("a call whose time is over while it waits is never sent", async () => {
    const session = await openSuspended();
    const failure = await failureOf(session.create("/a", null, { timeoutMs: 20 }));
    expect(failure).toBeInstanceOf(DeadlineError);
    expect(failure).toMatchObject({
      reason: "deadline",
      message: "no answer: /a (20 ms)",
      outcome: undefined,
    });
    expect(await opcodesAfterReconnect(session)).toEqual([OP.exists]);
  });

  describe.each([
    { how: "aborted", errorClass: InterruptedError },
    { how: "out of time", errorClass: DeadlineError },
  ])("a call $how after it was sent", ({ how, errorClass }) => {
    /** Makes a call, lets it be written, and gives it up. */
    async function giveUp(
      call: (options: CallOptions) => Promise<unknown>,
    ): Promise<InterruptedError | DeadlineError> {
      const controller = new AbortController();
      const failure = failureOf(
        call(how === "aborted" ? { signal: controller.signal } : { timeoutMs: 100 }),
      );
      await eventually(() => expect(held).toHaveLength(1));
      controller.abort();
      return failure;
    }

    test("rejects without an answer, and its outcome settles with the result", async () => {
      const session = openFake();
      await session.connected();
      const failure = await giveUp((options) => session.create("/a", null, options));
      expect(failure).toBeInstanceOf(errorClass);
      const undecided = Symbol("undecided");
      expect(
        await Promise.race([failure.outcome, new Promise((tell) => setImmediate(tell, undecided))]),
      ).toBe(undecided);
      held[0]?.ok(text("/a"));
      expect(await failure.outcome).toBe("/a");
      // The stream is still in step.
      const next = session.create("/b", null);
      await eventually(() => expect(held).toHaveLength(2));
      held[1]?.ok(text("/b"));
      expect(await next).toBe("/b");
    });

    test("has an outcome that tells of a refusal", async () => {
      const session = openFake();
      await session.connected();
      const failure = await giveUp((options) => session.create("/a", null, options));
      held[0]?.error(NODE_EXISTS);
      await expect(failure.outcome).rejects.toThrow(ConflictError);
    });

    test("has an outcome that tells of a lost connection, and is not repeated on the next one", async () => {
      const session = openFake();
      await session.connected();
      const failure = await giveUp((options) => session.getData("/a", options));
      held.length = 0;
      fake.connections[0]?.close();
      await expect(failure.outcome).rejects.toThrow(ConnectionError);
      await expect(failure.outcome).rejects.toMatchObject({
        reason: "connection-loss",
        sent: true,
      });
      expect(await opcodesAfterReconnect(session)).toEqual([OP.getData, OP.exists]);
    });
  });

  test.each([2 ** 31, Infinity])("a call may take %d ms", async (timeoutMs) => {
    const session = openFake();
    await session.connected({ timeoutMs });
    const making = session.create("/a", null, { timeoutMs });
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.ok(text("/a"));
    expect(await making).toBe("/a");
  });

  test("a thousand calls share one listener on their signal", async () => {
    const session = openFake();
    await session.connected();
    const controller = new AbortController();
    const reads = Array.from({ length: 1_000 }, () =>
      failureOf(session.getData("/a", { signal: controller.signal })),
    );
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    controller.abort();
    const errors = await Promise.all(reads);
    expect(errors.every((error) => error instanceof InterruptedError)).toBe(true);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("a read that was not given up is repeated on the next connection", async () => {
    const session = openFake();
    await session.connected();
    const controller = new AbortController();
    const read = session.getData("/a", { signal: controller.signal, timeoutMs: 10_000 });
    await eventually(() => expect(held).toHaveLength(1));
    fake.connections[0]?.close();
    await eventually(() => expect(held).toHaveLength(2));
    held[1]?.ok(EMPTY_ZNODE);
    expect(await read).toMatchObject({ data: null });
    // And a call that is over holds on to nothing.
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("a read that is aborted between two connections is not repeated, and its fate is known", async () => {
    const session = openFake();
    await session.connected();
    const controller = new AbortController();
    const read = failureOf(session.getData("/a", { signal: controller.signal }));
    await eventually(() => expect(held).toHaveLength(1));
    held.length = 0;
    fake.options.handshake = "close";
    fake.connections[0]?.close();
    await eventually(() => expect(session.state).toBe("suspended"));
    controller.abort();
    expect(await read).toMatchObject({ reason: "interrupted", outcome: undefined });
    expect(await opcodesAfterReconnect(session)).toEqual([OP.getData, OP.exists]);
  });

  test.each<[string, (session: Session, options: CallOptions) => Promise<unknown>]>([
    ["create2", (session, options) => session.create2("/a", null, options)],
    ["create", (session, options) => session.create("/a", null, { ...options, mode: "container" })],
    [
      "multiRead",
      (session, options) => session.multiRead([{ op: "getData", path: "/a" }], options),
    ],
    ["addWatch", (session, options) => session.addWatch("/a", "persistent", () => {}, options)],
    ["getEphemerals", (session, options) => session.getEphemerals("/", options)],
    ["getAllChildrenNumber", (session, options) => session.getAllChildrenNumber("/a", options)],
    ["whoAmI", (session, options) => session.whoAmI(options)],
    ["reconfig", (session, options) => session.reconfig({ ...options, members: "" })],
  ])(
    "%s, which has to ask for the server's version first, is limited while it waits for a server",
    async (_, call) => {
      fake.options.handshake = "silent";
      const session = openFake({ connectTimeoutMs: 5_000 });
      const controller = new AbortController();
      const aborted = failureOf(call(session, { signal: controller.signal }));
      expect(await failureOf(call(session, { timeoutMs: 20 }))).toMatchObject({
        reason: "deadline",
        name: "DeadlineError",
      });
      controller.abort();
      expect(await aborted).toMatchObject({ reason: "interrupted" });
      expect(fake.connections.flatMap((connection) => connection.opcodes)).toEqual([]);
    },
  );
});

describe("a watch of a call that was given up", () => {
  let proxy: FaultProxy;
  let session: Session;
  let writer: Session;
  let chroot: string;

  beforeEach(async () => {
    const where = parseConnectString(await freshChroot());
    chroot = where.chroot;
    proxy = await startFaultProxy(Number(sharedServer().split(":")[1]));
    session = openSession({ ...where, servers: [{ host: "127.0.0.1", port: proxy.port }] });
    writer = openSession(where);
    await writer.create("/there", null);
    await session.connected();
  });

  afterEach(async () => {
    await session.close();
    await writer.close();
    await proxy.close();
  });

  /** Whether the server has a watch of the session on one of its paths. */
  async function isWatched(serverPath: string): Promise<boolean> {
    const [, after = ""] = `\n${await fourLetterWord(sharedServer(), "wchp")}`.split(
      `\n${serverPath}\n`,
    );
    const [watchers = ""] = after.split("\n/");
    return watchers.includes(`0x${session.id.toString(16)}`);
  }

  interface Watching {
    readonly name: string;
    readonly serverPath: () => string;
    readonly call: (options: CallOptions & { readonly watch: WatchListener }) => Promise<unknown>;
    /**
     * What the watch would tell of; nobody may touch the configuration of a server that others use.
     */
    readonly change: () => Promise<unknown>;
  }

  const there = () => `${chroot}/there`;
  const change = () => writer.setData("/there", Buffer.from("new"));
  const calls: Watching[] = [
    {
      name: "getData",
      serverPath: there,
      call: (options) => session.getData("/there", options),
      change,
    },
    {
      name: "exists",
      serverPath: () => `${chroot}/missing`,
      call: (options) => session.exists("/missing", options),
      change: () => writer.create("/missing", null),
    },
    {
      name: "addWatch",
      serverPath: there,
      call: ({ watch, ...options }) => session.addWatch("/there", "persistent", watch, options),
      change,
    },
    {
      name: "getConfig",
      serverPath: () => "/zookeeper/config",
      call: (options) => session.getConfig(options),
      change: async () => {},
    },
  ];

  test.each(calls)(
    "is taken off the server again ($name)",
    async ({ name, serverPath, call, change }) => {
      // addWatch asks for the version once; not while the line is dead.
      if (name === "addWatch") await session.whoAmI();
      proxy.stall("to-client");
      const controller = new AbortController();
      const heard: string[] = [];
      const failure = failureOf(
        call({ signal: controller.signal, watch: ({ type }) => heard.push(type) }),
      );
      await eventually(() => isWatched(serverPath()));
      controller.abort();
      const { outcome } = await failure;
      expect(outcome).toBeDefined();
      proxy.resume();
      await outcome;
      await eventually(async () => !(await isWatched(serverPath())));
      await change();
      await session.sync("/");
      expect(heard).toEqual([]);
    },
  );

  test("stays for another listener to the same znode", async () => {
    const kept: string[] = [];
    const heard: string[] = [];
    await session.getData("/there", { watch: ({ type }) => kept.push(type) });
    const controller = new AbortController();
    proxy.stall("to-client");
    const failure = failureOf(
      session.getData("/there", {
        signal: controller.signal,
        watch: ({ type }) => heard.push(type),
      }),
    );
    await new Promise(setImmediate);
    controller.abort();
    const { outcome } = await failure;
    proxy.resume();
    await outcome;
    await session.sync("/");
    await writer.setData("/there", Buffer.from("new"));
    await eventually(() => expect(kept).toEqual(["data-changed"]));
    expect(heard).toEqual([]);
  });

  test("raises no error when the session is closed before it can be removed", async () => {
    const unhandled = collectUncaught("unhandledRejection");
    proxy.stall("to-client");
    const controller = new AbortController();
    const failure = failureOf(
      session.getData("/there", { signal: controller.signal, watch: () => {} }),
    );
    await eventually(() => isWatched(there()));
    controller.abort();
    const { outcome } = await failure;
    const closed = session.close();
    proxy.resume();
    await outcome;
    await closed;
    // The next turn but one: where the runtime reports what nobody has caught.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  });
});
