/**
 * Shares the reading of many ACLs among several sessions: ZooKeeper has no request for many ACLs,
 * and a server answers more requests a second on several connections than on one.
 */
import type { CallOptions, Session } from "../../session/session.ts";

/** What reads ACLs: a session, or several. */
export type AclSource = Pick<Session, "getAcl">;

interface AclReadersOptions {
  /** Opens a session to the same tree with the same credentials. */
  readonly open: () => Promise<Session>;
  readonly signal: AbortSignal;
}

/** With seven instead of three it is not faster. */
const OTHER_SESSIONS = 3;
/** Each session costs the ensemble two transactions: a small tree is not worth them. */
const WORTH_OTHERS = 2_000;

/** The caller calls {@link close}. */
export class AclReaders implements AclSource {
  readonly #session: Session;
  readonly #options: AclReadersOptions;
  readonly #ready: Session[] = [];
  #openings: readonly Promise<void>[] = [];
  readonly #opened: Session[] = [];
  #asked = 0;
  #isClosed = false;

  constructor(session: Session, options: AclReadersOptions) {
    this.#session = session;
    this.#options = options;
  }

  getAcl(path: string, options: CallOptions): ReturnType<Session["getAcl"]> {
    this.#asked += 1;
    if (this.#asked === WORTH_OTHERS)
      this.#openings = Array.from({ length: OTHER_SESSIONS }, () => this.#open());
    // Turn 0 is that of the tree's own session.
    const turn = this.#asked % (this.#ready.length + 1);
    const other = this.#ready[turn - 1];
    if (other?.state !== "connected") return this.#session.getAcl(path, options);
    return other.getAcl(path, options).catch((error: unknown) => {
      if (options.signal?.aborted) throw error;
      // Its server may lack the znode still, or the session is over: the answer that counts is that
      // of the session which has found the znode.
      return this.#session.getAcl(path, options);
    });
  }

  async #open(): Promise<void> {
    const { open, signal } = this.#options;
    try {
      const session = await open();
      this.#opened.push(session);
      if (this.#isClosed) return await session.close();
      await session.connected({ signal });
      // Its server may be behind: without this an ACL could be older than the beginning of the work.
      await session.sync("/", { signal });
      this.#ready.push(session);
    } catch {
      // Too many connections, an abort: the others do its part.
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#opened.map((session) => session.close()));
    await Promise.all(this.#openings);
  }
}
