/**
 * The sessions of the server: their passwords and their expiry. A session outlives its connections.
 */
import { randomBytes } from "node:crypto";
import { ExpiryQueue } from "./expiry-queue.ts";

/** The part of a connection that its session uses. */
interface Attached {
  /** Closes the connection without a reply. */
  destroy(): void;
}

export interface Session {
  readonly id: bigint;
  readonly password: Buffer;
  timeoutMs: number;
  connection: Attached | undefined;
}

const PASSWORD_BYTES = 16;

export class Sessions {
  readonly #sessions = new Map<bigint, Session>();
  readonly #expiry: ExpiryQueue<Session>;
  readonly #now: () => number;
  #nextId: bigint;

  constructor(tickTimeMs: number, now: () => number) {
    this.#now = now;
    this.#expiry = new ExpiryQueue(tickTimeMs, now());
    this.#nextId = firstId(Date.now());
  }

  get size(): number {
    return this.#sessions.size;
  }

  get expiry(): ExpiryQueue<Session> {
    return this.#expiry;
  }

  open(timeoutMs: number): Session {
    const session = {
      id: this.#nextId++,
      password: randomBytes(PASSWORD_BYTES),
      timeoutMs,
      connection: undefined,
    };
    this.#sessions.set(session.id, session);
    this.#expiry.update(session, timeoutMs, this.#now());
    return session;
  }

  find(id: bigint): Session | undefined {
    return this.#sessions.get(id);
  }

  /**
   * Moves the expiry of a session whose client sent something. Returns false if the session has
   * ended.
   */
  touch(session: Session): boolean {
    if (this.#sessions.get(session.id) !== session) return false;
    this.#expiry.update(session, session.timeoutMs, this.#now());
    return true;
  }

  remove(session: Session): void {
    this.#sessions.delete(session.id);
    this.#expiry.remove(session);
  }

  /** Removes and returns the sessions whose timeout has passed. The caller must end them. */
  takeExpired(): Session[] {
    return this.#expiry.takeExpired(this.#now());
  }

  msToNextExpiry(): number {
    return this.#expiry.waitMs(this.#now());
  }
}

/**
 * Session ids as ZooKeeper makes them: the server id (1) in the highest byte, then a time, then a
 * counter.
 */
function firstId(time: number): bigint {
  return (BigInt.asUintN(64, BigInt(time) << 24n) >> 8n) | (1n << 56n);
}
