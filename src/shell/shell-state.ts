/** What outlives one line: the session, where the user is, who they are, and what was typed. */
import type { Shell } from "../commands/command.ts";
import { ConnectionError, type LockError } from "../errors.ts";
import type { HeldLock } from "../recipes/locks/held-lock.ts";
import { describeRequest, type RevokeRequest } from "../recipes/locks/holder-record.ts";
import { revoked } from "../recipes/locks/queue/own-ticket.ts";
import type { Session } from "../session/session.ts";

interface Identity {
  readonly scheme: string;
  readonly credential: Buffer;
}

export interface ShellStateOptions {
  readonly isInteractive: boolean;
  /** Opens a session to `target`, or to the servers the program was started with. */
  open(target: string | undefined, options?: SeparateOptions): Promise<Session>;
  /** Tells something that no line has asked for. */
  say?(line: string): void;
  /**
   * Told before a credential is sent to `target`, or to the servers the program was started with.
   */
  readonly onIdentify?: ((scheme: string, target: string | undefined) => Promise<void>) | undefined;
}

/** A session that is not the shell's own. */
export interface SeparateOptions {
  readonly isSeparate: true;
  readonly timeoutMs?: number | undefined;
}

export class ShellState implements Shell {
  readonly isInteractive: boolean;
  readonly history: string[] = [];
  readonly heldLocks = new Map<string, HeldLock>();
  readonly say: (line: string) => void;
  /** A lock that lines relied on, and that is gone. */
  lostLock: LockError | undefined;
  printsWatches = true;
  readonly #open: ShellStateOptions["open"];
  readonly #onIdentify: NonNullable<ShellStateOptions["onIdentify"]>;
  readonly #identities: Identity[] = [];
  readonly #lostLocks: string[] = [];
  /** Locks that somebody has asked for while lines were running. */
  readonly #wanted: (() => Promise<void>)[] = [];
  #lines = 0;
  readonly #sessionListeners = new Set<(session: Session) => void>();
  #cwd = "/";
  #previousCwd: string | undefined;
  #target: string | undefined;
  #session: Promise<Session> | undefined;
  #isDisconnected = false;
  #isConnecting = false;

  constructor({
    isInteractive,
    open,
    say = () => {},
    onIdentify = async () => {},
  }: ShellStateOptions) {
    this.isInteractive = isInteractive;
    this.say = say;
    this.#open = open;
    this.#onIdentify = onIdentify;
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

  /** While a line opens a session, whose result it will show. */
  get isConnecting(): boolean {
    return this.#isConnecting;
  }

  changeDirectory(path: string): void {
    this.#previousCwd = this.#cwd;
    this.#cwd = path;
  }

  /** Told of every session that is opened; returns the function that stops telling. */
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
    // Somebody else may have seen the loss too, and been faster.
    return this.#session === current ? this.#begin() : this.session();
  }

  async openSession({ timeoutMs }: { readonly timeoutMs?: number | undefined }): Promise<Session> {
    return this.#identified(await this.#open(this.#target, { isSeparate: true, timeoutMs }));
  }

  lockLost(path: string, error: LockError): void {
    this.heldLocks.delete(path);
    this.lostLock = error;
    // The end of a session is told with everything that was lost with it.
    if (this.isInteractive && error.lostReason === "session-lost") this.#lostLocks.push(path);
    else this.say(error.message);
  }

  giveWay(lock: HeldLock, request: RevokeRequest): void {
    const { path } = lock;
    // A script was written to run under it to its end.
    if (!this.isInteractive) this.lostLock = revoked(path, request);
    const give = async () => {
      if (this.heldLocks.get(path) !== lock) return;
      this.heldLocks.delete(path);
      while (lock.count > 1) await lock.release();
      await lock.release();
      this.say(`${describeRequest(path, request)}: released`);
    };
    const giveOrSay = () => give().catch((error: unknown) => this.say(notGivenBack(path, error)));
    if (this.#lines === 0) return void giveOrSay();
    this.#wanted.push(giveOrSay);
    if (this.isInteractive)
      this.say(`${describeRequest(path, request)}: it is released at the end of this line`);
  }

  /** Runs a line: as long as it takes, no lock is given back to whoever asks for it. */
  async attend<T>(line: () => Promise<T>): Promise<T> {
    this.#lines += 1;
    try {
      return await line();
    } finally {
      this.#lines -= 1;
      if (this.#lines === 0) for (const give of this.#wanted.splice(0)) void give();
    }
  }

  /** The locks that went with a session, each told once. */
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

  async identify(scheme: string, credential: Buffer, signal: AbortSignal): Promise<void> {
    await this.#onIdentify(scheme, this.#target);
    const session = await this.session();
    await session.addAuth(scheme, credential, { signal });
    this.#identities.push({ scheme, credential });
  }

  /** Says goodbye to the server, if there is a session. */
  async end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    for (const lock of this.heldLocks.values())
      while (lock.count > 0) void lock.release().catch(() => {});
    this.heldLocks.clear();
    // A session that could not be opened has nothing to close; whoever asked for it has been told.
    await session?.then(
      (opened) => opened.close(),
      () => {},
    );
  }

  #begin(): Promise<Session> {
    const begun = this.#open(this.#target).then((session) => {
      this.#identified(session);
      for (const listener of this.#sessionListeners) listener(session);
      return session;
    });
    this.#session = begun;
    // What could not even be opened is tried anew next time.
    begun.catch(() => {
      if (this.#session === begun) this.#session = undefined;
    });
    return begun;
  }

  #identified(session: Session): Session {
    for (const { scheme, credential } of this.#identities) {
      // Ahead of whatever is asked next. A refusal of what was accepted before shows as a missing
      // permission.
      session.addAuth(scheme, credential).catch(() => {});
    }
    return session;
  }
}

/** Who may change the ACL of a lock's path can forbid us to delete our own ticket. */
function notGivenBack(path: string, error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `${path} could not be released; the end of this session releases it: ${why}`;
}
