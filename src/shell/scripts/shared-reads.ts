/**
 * A session for scripts, whose plain reads share requests: those made in one turn leave as one
 * multiRead, which a server answers many times as fast. Nothing overtakes anything: whatever else
 * is asked for leaves behind the reads before it.
 *
 * The server is asked once whether it has multiRead, and reads wait for that together. Where it has
 * not, or while there is no connection, they leave one by one in one flight, as they do where a
 * multiRead fails as a whole.
 */
import type { Data, ReadOp, ReadOptions, ReadResult, Session } from "../../session/session.ts";

const FIRST_BATCH = 16;
const MAX_BATCH = 64;
/**
 * A reply should stay near this length, judged by the last: both sides hold it in memory as a
 * whole.
 */
const REPLY_BYTES = 256 * 1024;
/** What a reply holds beside data and names. */
const BYTES_PER_READ = 100;
const BYTES_PER_NAME = 24;

interface Waiting {
  readonly op: ReadOp;
  readonly options: ReadOptions;
  readonly answer: (result: ReadResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The session that `session` looks like to a script. */
export function shareReads(session: Session): Session {
  const reads = new SharedReads(session);
  const shared: Pick<Session, "getData" | "getChildren"> = {
    getData(path, options = {}) {
      if (!isPlain(options)) return reads.behind(() => session.getData(path, options));
      return reads.read({ op: "getData", path }, options, (result) => result as Data);
    },
    getChildren(path, options = {}) {
      if (!isPlain(options)) return reads.behind(() => session.getChildren(path, options));
      return reads.read(
        { op: "getChildren", path },
        options,
        (result) => (result as Children).children,
      );
    },
  };
  return new Proxy(session, {
    get(target, key: keyof Session) {
      if (key === "getData" || key === "getChildren") return shared[key];
      const value = target[key];
      if (typeof value !== "function") return value;
      return (...args: never[]) => reads.behind(() => Reflect.apply(value, target, args));
    },
  });
}

type Children = Extract<ReadResult, { op: "getChildren" }>;

/** A multiRead sets no watch, and has one deadline for all. */
function isPlain({ watch, timeoutMs }: ReadOptions): boolean {
  return watch === undefined && timeoutMs === undefined;
}

class SharedReads {
  readonly #session: Session;
  #waiting: Waiting[] = [];
  #batchSize = FIRST_BATCH;
  #isScheduled = false;
  #isAsking = false;
  /** The last server that was asked, and what it said. */
  #asked: { readonly server: string | undefined; readonly hasMultiRead: boolean } | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** `pick` takes the value out of the answer to this very read. */
  read<T>(op: ReadOp, options: ReadOptions, pick: (result: ReadResult) => T): Promise<T> {
    if (this.#waiting[0] && this.#waiting[0].options.signal !== options.signal) this.#send();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ op, options, answer: (result) => resolve(pick(result)), reject });
      if (this.#waiting.length >= this.#batchSize) this.#sendShared();
      else if (!this.#isScheduled) {
        this.#isScheduled = true;
        queueMicrotask(() => {
          this.#isScheduled = false;
          this.#sendShared();
        });
      }
    });
  }

  /** Makes a call that must not overtake the reads before it. */
  behind<T>(call: () => T): T {
    this.#send();
    return call();
  }

  #sendShared(): void {
    if (this.#isAsking) return;
    if (this.#waiting.length > 1 && this.#hasMultiRead === undefined) this.#ask();
    else this.#send();
  }

  /** Undefined where the server attached to has not been asked. */
  get #hasMultiRead(): boolean | undefined {
    const { server, state } = this.#session;
    return state === "connected" && server === this.#asked?.server
      ? this.#asked?.hasMultiRead
      : undefined;
  }

  #ask(): void {
    this.#isAsking = true;
    const { signal } = this.#waiting[0]?.options ?? {};
    void this.#session
      .knows("multiRead", signal && { signal })
      // The reads themselves will tell what is wrong.
      .catch(() => false)
      .then((hasMultiRead) => {
        this.#isAsking = false;
        this.#asked = { server: this.#session.server, hasMultiRead };
        this.#send();
      });
  }

  /** In this very turn, each read behind the one before it. */
  #send(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const size = this.#hasMultiRead ? this.#batchSize : 1;
    for (let i = 0; i < waiting.length; i += size) this.#request(waiting.slice(i, i + size));
  }

  #request(batch: readonly Waiting[]): void {
    const [first] = batch;
    if (first === undefined) return;
    if (batch.length === 1) return this.#readAlone(first);
    const { signal } = first.options;
    const { server } = this.#session;
    const ops = batch.map(({ op }) => op);
    this.#session.multiRead(ops, signal && { signal }).then(
      (results) => this.#answer(batch, results),
      (error: unknown) => {
        if (signal?.aborted) for (const { reject } of batch) reject(error);
        else this.#readEach(batch, server);
      },
    );
  }

  #answer(batch: readonly Waiting[], results: readonly ReadResult[]): void {
    this.#learn(results);
    let next = 0;
    for (const { answer, reject } of batch) {
      const result = results[next++];
      if (result === undefined || result.op === "error") reject(result?.error);
      else answer(result);
    }
  }

  /**
   * Their multiRead has failed: perhaps the server does not have it after all, or the answer was
   * too long.
   */
  #readEach(batch: readonly Waiting[], server: string | undefined): void {
    this.#asked = { server, hasMultiRead: false };
    for (const waiting of batch) this.#readAlone(waiting);
  }

  #readAlone({ op, options, answer, reject }: Waiting): void {
    const { path } = op;
    const result: Promise<ReadResult> =
      op.op === "getData"
        ? this.#session
            .getData(path, options)
            .then(({ data, stat }) => ({ op: "getData", path, data, stat }))
        : this.#session
            .getChildren(path, options)
            .then((children) => ({ op: "getChildren", path, children }));
    result.then((value) => {
      this.#learn([value]);
      answer(value);
    }, reject);
  }

  #learn(results: readonly ReadResult[]): void {
    const bytes = results.reduce((sum, result) => sum + lengthOf(result), 0);
    const affordable = Math.floor((REPLY_BYTES * results.length) / bytes);
    this.#batchSize = Math.min(MAX_BATCH, Math.max(1, affordable));
  }
}

function lengthOf(result: ReadResult): number {
  if (result.op === "getData") return BYTES_PER_READ + (result.data?.length ?? 0);
  return (
    BYTES_PER_READ + (result.op === "getChildren" ? result.children.length * BYTES_PER_NAME : 0)
  );
}
