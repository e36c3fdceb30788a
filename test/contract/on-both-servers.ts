import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/embedded/server.ts";
import type { Session } from "../../src/session/session.ts";
import { openFor } from "../support/open-session.ts";
import { hasSharedServer, sharedServer } from "../support/shared-server.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { type Handshake, RawClient } from "./raw-client.ts";

/**
 * What both servers can be told, under one name. Without any, the real server is the one that the
 * whole run shares.
 */
export interface ServerSettings {
  readonly enforceQuotas?: boolean;
  readonly maxRequestBytes?: number;
  readonly containerCheckIntervalMs?: number;
}

/** In every server: sessions live from one second up to a minute. */
const TICK_MS = 500;
const MAX_SESSION_TIMEOUT_MS = 60_000;

/** The server that a test body runs against; the body cannot tell which one it is. */
export class ServerUnderTest {
  readonly #address: () => string;

  constructor(address: () => string) {
    this.#address = address;
  }

  get address(): string {
    return this.#address();
  }

  /** A raw session below `chroot` that ends with the test. */
  async open(chroot = "", handshake: Handshake = {}): Promise<RawClient> {
    const client = await RawClient.open(this.address, chroot, handshake);
    onTestFinished(() => client.end());
    return client;
  }

  /** An empty znode that nobody else uses. */
  async chroot(): Promise<string> {
    const chroot = `/contract-${randomUUID()}`;
    const client = await this.open();
    const { err } = await client.create(chroot);
    if (err !== 0) throw new Error(`no ${chroot}: ${err}`);
    return chroot;
  }

  /** The same as a connect string. */
  async freshChroot(): Promise<string> {
    return `${this.address}${await this.chroot()}`;
  }

  /** A raw session below an empty znode. */
  async fresh(handshake: Handshake = {}): Promise<RawClient> {
    return this.open(await this.chroot(), handshake);
  }

  /** Two of them below the same. */
  async pair(): Promise<[RawClient, RawClient]> {
    const first = await this.fresh();
    return [first, await this.open(first.chroot)];
  }

  /** A session as commands use it. */
  session(chroot: string): Session {
    return openFor(`${this.address}${chroot}`);
  }
}

/**
 * The same test bodies for Apache ZooKeeper, which is the truth, and for the embedded server: the
 * project that runs the file says which.
 */
export function onBothServers(
  define: (server: ServerUnderTest) => void,
  settings?: ServerSettings,
): void {
  if (hasSharedServer()) onReal(define, settings);
  else onEmbedded(define, settings);
}

function onReal(define: (server: ServerUnderTest) => void, settings?: ServerSettings): void {
  describe("real", () => {
    let own: ZooKeeperServer | undefined;
    if (settings !== undefined) {
      beforeAll(async () => {
        own = await startServer({ tickTime: TICK_MS, jvmFlags: jvmFlags(settings) });
      });
      afterAll(() => own?.stop());
    }
    define(new ServerUnderTest(() => own?.address ?? sharedServer()));
  });
}

function onEmbedded(define: (server: ServerUnderTest) => void, settings?: ServerSettings): void {
  describe("embedded", () => {
    let server: EmbeddedServer | undefined;
    beforeAll(async () => {
      server = await startEmbeddedServer({
        ...settings,
        tickTimeMs: TICK_MS,
        maxSessionTimeoutMs: MAX_SESSION_TIMEOUT_MS,
      });
    });
    afterAll(() => server?.stop());
    define(new ServerUnderTest(() => server?.address ?? "not started"));
  });
}

function jvmFlags({
  enforceQuotas,
  maxRequestBytes,
  containerCheckIntervalMs,
}: ServerSettings): string[] {
  return [
    ...(enforceQuotas ? ["-Dzookeeper.enforceQuota=true"] : []),
    ...(maxRequestBytes === undefined ? [] : [`-Djute.maxbuffer=${maxRequestBytes}`]),
    ...(containerCheckIntervalMs === undefined
      ? []
      : [`-Dznode.container.checkIntervalMs=${containerCheckIntervalMs}`]),
  ];
}
