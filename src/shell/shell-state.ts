/** What outlives one line: the session, where the user is, who they are, and what was typed. */
import type { Shell } from "../commands/command.ts";
import { ConnectionError } from "../errors.ts";
import type { Session } from "../session/session.ts";

interface Identity {
  readonly scheme: string;
  readonly credential: Buffer;
}

export interface ShellStateOptions {
  readonly isInteractive: boolean;
  /** Opens a session to `target`, or to the servers the program was started with. */
  open(target: string | undefined): Promise<Session>;
}

export class ShellState implements Shell {
  readonly isInteractive: boolean;
  readonly history: string[] = [];
  /** The paths of the locks that are held, for the prompt. */
  readonly locks: string[] = [];
  printsWatches = true;
  readonly #open: ShellStateOptions["open"];
  readonly #identities: Identity[] = [];
  readonly #sessionListeners = new Set<(session: Session) => void>();
  #cwd = "/";
  #previousCwd: string | undefined;
  #target: string | undefined;
  #session: Promise<Session> | undefined;
  #isDisconnected = false;

  constructor({ isInteractive, open }: ShellStateOptions) {
    this.isInteractive = isInteractive;
    this.#open = open;
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

  changeDirectory(path: string): void {
    this.#previousCwd = this.#cwd;
    this.#cwd = path;
  }

  /** Told of every session that is opened; returns the function that stops telling. */
  onSession(listener: (session: Session) => void): () => void {
    this.#sessionListeners.add(listener);
    return () => this.#sessionListeners.delete(listener);
  }

  /** The session, opened now if there is none, or if the last one was lost. Throws after `close`. */
  async session(): Promise<Session> {
    if (this.#isDisconnected) {
      throw new ConnectionError("not-connected", "not connected", { hint: "connect opens a session" });
    }
    const current = this.#session ?? this.#begin();
    const session = await current;
    if (session.state !== "lost") return session;
    // Somebody else may have seen the loss too, and been faster.
    return this.#session === current ? this.#begin() : this.session();
  }

  async connect(target: string | undefined, signal: AbortSignal): Promise<Session> {
    await this.disconnect();
    this.#target = target ?? this.#target;
    this.#isDisconnected = false;
    const session = await this.#begin();
    await session.connected({ signal });
    return session;
  }

  async disconnect(): Promise<void> {
    await this.end();
    this.#isDisconnected = true;
  }

  async identify(scheme: string, credential: Buffer, signal: AbortSignal): Promise<void> {
    const session = await this.session();
    await session.addAuth(scheme, credential, { signal });
    this.#identities.push({ scheme, credential });
  }

  /** Says goodbye to the server, if there is a session. */
  async end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    // A session that could not be opened has nothing to close; whoever asked for it has been told.
    await session?.then(
      (opened) => opened.close(),
      () => {},
    );
  }

  #begin(): Promise<Session> {
    const begun = this.#open(this.#target).then((session) => {
      for (const { scheme, credential } of this.#identities) {
        // Ahead of whatever is asked next. A refusal of what was accepted before shows as a missing permission.
        session.addAuth(scheme, credential).catch(() => {});
      }
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
}
