import type { Session } from "../../session/session.ts";

/** A watch that nobody has needed for this long is taken off. */
const IDLE_MS = 1_000;

/**
 * Hears when a lock's path is deleted. Whoever makes it again starts another queue whose numbers begin at 0: what was known
 * of the old one must not be taken for the new.
 */
export class PathWatch {
  readonly #session: Session;
  readonly #path: string;
  #state: "off" | "asked" | "on" | "leaving" = "off";
  #czxid: bigint | undefined;
  #isNeeded = false;
  #idle: NodeJS.Timeout | undefined;
  #stopState = () => {};

  constructor(session: Session, path: string) {
    this.#session = session;
    this.#path = path;
  }

  /** Which of the znodes that ever had this path it is. Undefined: it is not watched, or may be another one by now. */
  get czxid(): bigint | undefined {
    return this.#czxid;
  }

  /** Sets the watch in this very turn, if it is not set: what is asked for next is answered after it. */
  keep(): void {
    this.#isNeeded = true;
    if (this.#state !== "off") return;
    this.#state = "asked";
    // Another server, or the same one after a restart, is asked anew.
    this.#stopState = this.#session.onState(({ state }) => state !== "connected" && this.#leave());
    this.#idle = setInterval(() => this.#rest(), IDLE_MS).unref();
    this.#session.getData(this.#path, { watch: this.#listener }).then(
      ({ stat }) => {
        // Given up before the answer came.
        if (this.#state === "off") this.#leave();
        if (this.#state !== "asked") return;
        this.#state = "on";
        this.#czxid = stat.czxid;
      },
      () => this.#end(),
    );
  }

  /** It has been asked for, and nothing speaks against it. */
  get isKept(): boolean {
    return this.#state === "asked" || this.#state === "on";
  }

  /** Not only of its deletion: any event uses the watch up. */
  readonly #listener = () => this.#end();

  #rest(): void {
    if (this.#isNeeded) this.#isNeeded = false;
    else this.#leave();
  }

  /** A watch that is set while another is being taken off would go with it. */
  #leave(): void {
    this.#end("leaving");
    const end = () => this.#end();
    if (this.#session.state === "lost") end();
    else this.#session.removeWatch(this.#path, this.#listener).then(end, end);
  }

  #end(state: "off" | "leaving" = "off"): void {
    if (this.isKept) {
      this.#stopState();
      clearInterval(this.#idle);
    }
    this.#state = state;
    this.#czxid = undefined;
  }
}
