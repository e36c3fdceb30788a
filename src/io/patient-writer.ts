/**
 * Writes to a terminal, a pipe or a socket without ever holding up the event loop. Node writes to
 * terminals synchronously, and to pipes too as soon as a program was started that shares them: a
 * reader who does not read (Ctrl-S, `| less`) would stop heartbeats and guard until the session has
 * expired.
 */
import { constants, openSync, write, writeSync } from "node:fs";
import { promisify } from "node:util";

/**
 * A message beside the results waits this long for its reader; then it is queued, and the caller
 * goes on.
 */
const STALL_MS = 200;
/** How soon a descriptor that took nothing is tried again. */
const RETRY_MS = 20;
/** Bytes queued for a reader that does not read; beyond that the oldest messages are dropped. */
const MAX_KEPT = 64 * 1024;

const NEWLINE = 0x0a;
const BRACE = "{".charCodeAt(0);

type Done = (error?: Error | null) => void;

interface Piece {
  bytes: Uint8Array;
  /** Results are never dropped, and their callers wait for the reader. */
  readonly isResult: boolean;
  /** Undefined once the caller has been told to go on. */
  done: Done | undefined;
}

export class PatientWriter {
  readonly #fd: number;
  /** Whether the descriptor is ours alone and does not block. */
  readonly #isOwn: boolean;
  /** The first one is being written. */
  readonly #pieces: Piece[] = [];
  #isPumping = false;
  #stall: NodeJS.Timeout | undefined;
  #isStuck = false;
  #isBroken = false;
  #droppedLines = 0;
  #isDroppedJson = false;
  readonly #onIdle: (() => void)[] = [];

  /**
   * A descriptor that is opened anew has flags of its own: it does not block, and other processes
   * that share the pipe or the terminal do not notice. Sockets, and pipes of another user, cannot
   * be opened anew; they are written to in a thread of Node's pool. Node waits for such a thread
   * before it exits, so there the exit still waits for the reader.
   */
  constructor(fd: number) {
    const own = reopen(fd);
    this.#isOwn = own !== undefined;
    this.#fd = own ?? fd;
  }

  /** The reader has not read for a while. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /**
   * Writes a message beside the results. Never fails, because the program can do without it; `done`
   * is called soon, even when the reader does not read.
   */
  say(bytes: Uint8Array, done: () => void): void {
    if (this.#isBroken) return done();
    this.#add({ bytes, isResult: false, done });
  }

  /** `done` comes when the reader has taken it, with the error when it is gone. */
  result(bytes: Uint8Array, done: Done): void {
    this.#add({ bytes, isResult: true, done });
  }

  get isIdle(): boolean {
    return this.#pieces.length === 0;
  }

  /** Resolves when nothing is left to be written. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  #add(piece: Piece): void {
    this.#pieces.push(piece);
    if (this.#isStuck) this.#letGo();
    void this.#pump();
  }

  /**
   * The first attempt is made in this very turn: the output of a program that is started next comes
   * behind it.
   */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let [piece] = this.#pieces; piece; [piece] = this.#pieces) {
      try {
        const written = this.#isOwn
          ? writeSync(this.#fd, piece.bytes)
          : await this.#writeInThread(piece.bytes);
        clearTimeout(this.#stall);
        this.#stall = undefined;
        this.#isStuck = false;
        piece.bytes = piece.bytes.subarray(written);
        if (piece.bytes.length === 0) this.#end(piece);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") await this.#pause();
        else this.#fail(piece, error as Error);
      }
    }
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#isPumping = false;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #writeInThread(bytes: Uint8Array): Promise<number> {
    this.#limitStall();
    return promisify(write)(this.#fd, bytes).then(({ bytesWritten }) => bytesWritten);
  }

  #pause(): Promise<void> {
    this.#limitStall();
    return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }

  #limitStall(): void {
    if (!this.#isStuck) this.#stall ??= setTimeout(() => this.#letGo(), STALL_MS);
  }

  #end(piece: Piece, error?: Error): void {
    this.#pieces.shift();
    // Dropped was what stood right behind it.
    if (this.#droppedLines > 0 && !this.#isBroken) this.#pieces.unshift(this.#note());
    piece.done?.(error);
  }

  #fail(piece: Piece, error: Error): void {
    if (piece.isResult) return this.#end(piece, error);
    this.#isBroken = true;
    for (const said of this.#pieces.filter(({ isResult }) => !isResult)) said.done?.();
    const results = this.#pieces.filter(({ isResult }) => isResult);
    this.#pieces.splice(0, this.#pieces.length, ...results);
  }

  /**
   * Lets the callers of messages go on, and drops the oldest messages when too many bytes are
   * queued.
   */
  #letGo(): void {
    this.#isStuck = true;
    this.#stall = undefined;
    let kept = 0;
    for (let index = this.#pieces.length - 1; index >= 0; index--) {
      const piece = this.#pieces[index];
      if (piece === undefined || piece.isResult) continue;
      piece.done?.();
      piece.done = undefined;
      kept += piece.bytes.length;
      // Part of the first one may have been written already.
      if (kept <= MAX_KEPT || index === 0) continue;
      this.#pieces.splice(index, 1);
      this.#droppedLines += piece.bytes.filter((byte) => byte === NEWLINE).length;
      this.#isDroppedJson = piece.bytes[0] === BRACE;
    }
  }

  #note(): Piece {
    const lines = this.#droppedLines;
    this.#droppedLines = 0;
    const text = this.#isDroppedJson
      ? JSON.stringify({ event: "dropped", lines })
      : `(${lines} ${lines === 1 ? "line was" : "lines were"} dropped here, because stderr was not read)`;
    return { bytes: Buffer.from(`${text}\n`), isResult: false, done: undefined };
  }
}

/** Undefined where the system does not let us. */
function reopen(fd: number): number | undefined {
  try {
    return openSync(
      `/proc/self/fd/${fd}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    return undefined;
  }
}
