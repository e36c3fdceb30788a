import { startTimer } from "../../../async/timer.ts";
import type { TlsProblem } from "../../../errors.ts";
import type { SessionOptions } from "../../options.ts";
import type { Clock } from "../lifetime/clock.ts";
import type { ServerList } from "./server-list.ts";

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Told that no server was found, and why. */
export type GivenUp = (message: string, tlsProblem: TlsProblem | undefined) => void;

/** How long a session that has no server yet goes on looking for one. */
export class ConnectTimeout {
  /** The whole time there is for connecting. */
  readonly limitMs: number;
  readonly #refusedLimitMs: number;
  readonly #servers: ServerList;
  readonly #clock: Clock;
  readonly #onGivenUp: GivenUp;
  #startedAt = 0;
  #stopTimer: (() => void) | undefined;

  constructor(options: SessionOptions, servers: ServerList, clock: Clock, onGivenUp: GivenUp) {
    this.limitMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
    this.#refusedLimitMs = options.refusedTimeoutMs ?? this.limitMs;
    this.#servers = servers;
    this.#clock = clock;
    this.#onGivenUp = onGivenUp;
  }

  start(): void {
    this.stop();
    this.#startedAt = this.#clock.now();
    this.#stopTimer = startTimer(this.limitMs, () =>
      this.#giveUp(` within ${this.limitMs / 1000} s`),
    );
  }

  stop(): void {
    this.#stopTimer?.();
  }

  /** An attempt has failed: gives up, and says so, when more of them make no sense. */
  tried(): boolean {
    if (!this.#isHopeless()) return false;
    this.#giveUp("");
    return true;
  }

  #isHopeless(): boolean {
    if (this.#servers.allFailed(["permanent"])) return true;
    const isLong = this.#clock.now() - this.#startedAt >= this.#refusedLimitMs;
    return isLong && this.#servers.allFailed(["permanent", "refused"]);
  }

  #giveUp(within: string): void {
    this.stop();
    const message = `cannot connect to ZooKeeper${within}: ${this.#servers.summary()}`;
    this.#onGivenUp(message, this.#servers.tlsProblem);
  }
}
