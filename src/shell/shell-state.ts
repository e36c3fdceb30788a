/**
 * The state that statements share: the session, the working znode, credentials, locks and the
 * history.
 */
import type { Shell } from "../commands/command.ts";
import { ConnectionError, type LockError } from "../errors.ts";
import type { HeldLock } from "../recipes/locks/held-lock.ts";
import { describeRequest, type RevokeRequest } from "../recipes/locks/holder-record.ts";
import { revoked } from "../recipes/locks/queue/own-ticket.ts";
import type { Session } from "../session/session.ts";
import type { FrontEnd } from "./front-end.ts";
import { Variables } from "./variables.ts";

interface SentCredential {
  readonly scheme: string;
  readonly credential: Buffer;
}

/** How the shell opens sessions and warns about credentials. */
type OpenOptions = Parameters<Shell["openSession"]>[0];

export type SessionOpener = Pick<FrontEnd, "openSession" | "warnOfCredential">;

export interface ShellStateOptions {
  readonly kind: "one-shot" | "script" | "interactive";
  /** The first session, which is being opened. Left out: opened when it is first needed. */
  readonly session?: Promise<Session> | undefined;
  /** Shows a message that is not the result of a line. */
  notify?(message: string): void;
  /** Called with every session of the shell's own; returns the session that lines use. */
  track?(session: Session): Session;
}

export class ShellState implements Shell {
  readonly isInteractive: boolean;
  readonly history: string[] = [];
  readonly heldLocks = new Map<string, HeldLock>();
  readonly isOneShot: boolean;
  readonly notify: (message: string) => void;
  /** Why a lock that lines relied on was lost. */
  lostLock: LockError | undefined;
  printsWatches = true;
  readonly variables = new Variables();
  readonly #opener: SessionOpener;
  readonly #track: NonNullable<ShellStateOptions["track"]>;
  readonly #credentials: SentCredential[] = [];
  readonly #lostLocks: string[] = [];
  /** Releases locks that were revoked while lines were running. */
  readonly #revoked: (() => Promise<void>)[] = [];
  #lines = 0;
  readonly #sessionListeners = new Set<(session: Session) => void>();
  #cwd = "/";
  #previousCwd: string | undefined;
  #target: string | undefined;
  #session: Promise<Session> | undefined;
  /** The last session that was opened. */
  #opened: Session | undefined;
  #isDisconnected = false;
  #isConnecting = false;

  constructor(
    opener: SessionOpener,
    { kind, session, notify = () => {}, track = (opened) => opened }: ShellStateOptions,
  ) {
    this.isInteractive = kind === "interactive";
    this.isOneShot = kind === "one-shot";
    this.notify = notify;
    this.#opener = opener;
    this.#track = track;
    if (session !== undefined) void this.#keep(session);
  }

  get cwd(): string {
    return this.#cwd;
  }

  get previousCwd(): string | undefined {
    return this.#previousCwd;
  }

  /** The servers named by the last `connect`; undefined for those the program was started with. */
  get target(): string | undefined {
    return this.#target;
  }

  /** After `close`, until `connect`. */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  /** `host:port` of the server that the session is attached to; undefined without one. */
  get attachedTo(): string | undefined {
    return this.#opened?.state === "connected" ? this.#opened.server : undefined;
  }

  /** While a line opens a session, whose result it will show. */
  get isConnecting(): boolean {
    return this.#isConnecting;
  }

  changeDirectory(path: string): void {
    this.#previousCwd = this.#cwd;
    this.#cwd = path;
  }

  /** Calls `listener` with every new session; returns the function to stop it. */
  onSession(listener: (session: Session) => void): () => void {
    this.#sessionListeners.add(listener);
    return () => this.#sessionListeners.delete(listener);
  }

  /**
   * The session, opened now if there is none, or if the last one was lost. Throws after `close`.
   */
  async session(): Promise<Session> {
    if (this.#isDisconnected) {
      throw new ConnectionError("not-connected", "not connected", {
        hint: "connect opens a new session",
      });
    }
    const current = this.#session ?? this.#begin();
    const session = await current;
    if (session.state !== "lost") return session;
    // Another caller may have opened the next session already.
    return this.#session === current ? this.#begin() : this.session();
  }

  async openSession({ timeoutMs, target = this.#target }: OpenOptions): Promise<Session> {
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    const session = await this.#opener.openSession(target, options);
    // What was typed for these servers is not for those of a profile, which has its own.
    const isElsewhere = target !== this.#target && target?.startsWith("@");
    return isElsewhere ? session : this.#authenticated(session);
  }

  lockLost(path: string, error: LockError): void {
    this.heldLocks.delete(path);
    this.lostLock = error;
    // The loss of a session is reported with everything that was lost with it.
    if (this.isInteractive && error.lostReason === "session-lost") this.#lostLocks.push(path);
    else this.notify(error.message);
  }

  releaseRevoked(lock: HeldLock, request: RevokeRequest): void {
    const { path } = lock;
    // A script was written to run under its lock to the end.
    if (!this.isInteractive) this.lostLock = revoked(path, request);
    const release = async () => {
      if (this.heldLocks.get(path) !== lock) return;
      this.heldLocks.delete(path);
      while (lock.count > 1) await lock.release();
      await lock.release();
      this.notify(`${describeRequest(path, request)}: released`);
    };
    const releaseOrTell = () =>
      release().catch((error: unknown) => this.notify(notGivenBack(path, error)));
    if (this.#lines === 0) return void releaseOrTell();
    this.#revoked.push(releaseOrTell);
    if (this.isInteractive)
      this.notify(`${describeRequest(path, request)}: it is released at the end of this line`);
  }

  /** Runs a line: until it ends, no lock is released because it was revoked. */
  async runLine<T>(line: () => Promise<T>): Promise<T> {
    this.#lines += 1;
    try {
      return await line();
    } finally {
      this.#lines -= 1;
      if (this.#lines === 0) for (const release of this.#revoked.splice(0)) void release();
    }
  }

  /** Returns the locks that were lost with a session, each only once. */
  takeLostLocks(): readonly string[] {
    return this.#lostLocks.splice(0);
  }

  async connect(target: string | undefined, signal: AbortSignal): Promise<Session> {
    await this.disconnect();
    this.#target = target ?? this.#target;
    this.#isDisconnected = false;
    this.#isConnecting = true;
    try {
      const session = await this.#begin();
      await session.connected({ signal });
      return session;
    } finally {
      this.#isConnecting = false;
    }
  }

  async disconnect(): Promise<void> {
    await this.end();
    this.#isDisconnected = true;
  }

  async authenticate(scheme: string, credential: Buffer, signal: AbortSignal): Promise<void> {
    await this.#opener.warnOfCredential(scheme, this.#target);
    const session = await this.session();
    await session.addAuth(scheme, credential, { signal });
    this.#credentials.push({ scheme, credential });
  }

  /** Closes the session, if there is one, which releases its locks. */
  async end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    for (const lock of this.heldLocks.values())
      while (lock.count > 0) void lock.release().catch(() => {});
    this.heldLocks.clear();
    // A session that could not be opened has nothing to close; its caller has the error.
    await session?.then(
      (opened) => opened.close(),
      () => {},
    );
  }

  #begin(): Promise<Session> {
    const opening = this.#opener.openSession(this.#target).then((opened) => {
      const session = this.#track(opened);
      this.#authenticated(session);
      for (const listener of this.#sessionListeners) listener(session);
      return session;
    });
    return this.#keep(opening);
  }

  #keep(opening: Promise<Session>): Promise<Session> {
    this.#session = opening;
    opening.then(
      (session) => {
        this.#opened = session;
      },
      // After a failure the next line tries again.
      () => {
        if (this.#session === opening) this.#session = undefined;
      },
    );
    return opening;
  }

  #authenticated(session: Session): Session {
    for (const { scheme, credential } of this.#credentials) {
      // Sent ahead of the next request. If a server refuses what another accepted, requests fail
      // with NoAuth.
      session.addAuth(scheme, credential).catch(() => {});
    }
    return session;
  }
}

/** The ACL of the lock path can forbid deleting our own ticket. */
function notGivenBack(path: string, error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `${path} could not be released; the end of this session releases it: ${why}`;
}
