/**
 * Asks servers for `srvr` and `mntr` again and again, and yields their figures and rates at each
 * tick. Needs no session and no quorum. A server that does not answer costs the others nothing: a
 * tick does not wait longer than its length, and asks no server that still owes an answer. Only the
 * first look is more patient.
 */
import { setTimeout as pause } from "node:timers/promises";
import { within } from "../../async/within.ts";
import type { WordAnswer, WordFailure } from "../../session/four-letter-word.ts";
import { parseMntr } from "./mntr.ts";
import { ratesBetween, type ServerRates, type ServerSample, sampleOf } from "./server-sample.ts";
import { isNotServing, parseSrvr } from "./srvr.ts";
import type { AskedServer } from "./told-sessions.ts";

export interface ServerReading {
  readonly server: string;
  /**
   * `serving`: `sample` has its figures. `not-serving`: it runs, but has no quorum. `not-allowed`:
   * its whitelist has neither word. `down`: there is no answer, or none of ZooKeeper's.
   */
  readonly state: "serving" | "not-serving" | "not-allowed" | "down";
  readonly sample?: ServerSample;
  /** Left out before there are two samples. */
  readonly rates?: ServerRates;
  /** Since when the state is another one than `serving`, in milliseconds since the epoch. */
  readonly since?: number;
  /** With `down`. */
  readonly says?: string;
  readonly why?: WordFailure;
  /** The server does not allow `mntr`. */
  readonly lacksMntr?: boolean;
  /** Requests per second at the latest ticks, the oldest first; undefined where unknown. */
  readonly history: readonly (number | undefined)[];
}

export interface ServersTick {
  /** 0 is the first look, when no rates are known yet. */
  readonly tick: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly readings: readonly ServerReading[];
}

/** As many ticks as a plot is wide. */
const MAX_HISTORY = 60;
/** A server that answers later than this is down, also where ticks are further apart. */
const MAX_PATIENCE_MS = 3_000;

export interface FollowServersOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Ends only by its signal, with the error of that. */
export async function* followServers(
  servers: readonly AskedServer[],
  { everyMs, signal }: FollowServersOptions,
): AsyncGenerator<ServersTick> {
  const followed = servers.map((server) => new FollowedServer(server));
  const patienceMs = Math.min(everyMs, MAX_PATIENCE_MS);
  for (let tick = 0; ; tick++) {
    const startedAt = performance.now();
    const looks = Promise.all(followed.map((server) => server.look()));
    await within(tick === 0 ? MAX_PATIENCE_MS : patienceMs, looks);
    // Without any figures there is nothing to show but why: a TLS port takes longer to be told.
    if (tick === 0 && !followed.some(({ isServing }) => isServing)) await looks;
    signal.throwIfAborted();
    yield { tick, at: Date.now(), readings: followed.map((server) => server.reading()) };
    await pause(Math.max(0, startedAt + everyMs - performance.now()), undefined, { signal });
  }
}

type Looked = Omit<ServerReading, "server" | "history" | "since" | "rates">;

class FollowedServer {
  readonly #server: AskedServer;
  readonly #history: (number | undefined)[] = [];
  #pending: Promise<void> | undefined;
  #looked: Looked = { state: "down", says: "no answer" };
  #rates: ServerRates | undefined;
  /** The latest figures; those before an outage are compared with those after it. */
  #sample: ServerSample | undefined;
  #since: number | undefined;

  constructor(server: AskedServer) {
    this.#server = server;
  }

  /** Asks, unless an answer is still due; resolves with the answer. Rejects when interrupted. */
  look(): Promise<void> {
    if (this.#pending === undefined) {
      this.#pending = this.#ask().finally(() => {
        this.#pending = undefined;
      });
      // The answer may come when no tick waits for it.
      this.#pending.catch(() => {});
    }
    return this.#pending;
  }

  get isServing(): boolean {
    return this.#looked.state === "serving";
  }

  reading(): ServerReading {
    // While an answer is due, the failure before it still says the most.
    const isLate = this.#pending !== undefined && this.isServing;
    const looked: Looked = isLate ? { state: "down", says: "no answer" } : this.#looked;
    const isServing = looked.state === "serving";
    this.#since = isServing ? undefined : (this.#since ?? Date.now());
    const rates = isServing ? this.#rates : undefined;
    this.#history.push(rates?.received);
    if (this.#history.length > MAX_HISTORY) this.#history.shift();
    return {
      server: this.#server.name,
      ...looked,
      ...(rates && { rates }),
      ...(this.#since !== undefined && { since: this.#since }),
      history: [...this.#history],
    };
  }

  async #ask(): Promise<void> {
    const [srvr, mntr] = await Promise.all([this.#server.ask("srvr"), this.#server.ask("mntr")]);
    const [status, metrics] = [textOf(srvr, parseSrvr), textOf(mntr, parseMntr)];
    const sample = sampleOf(status, metrics, performance.now());
    if (!sample) {
      this.#looked = failure(srvr, mntr);
      return;
    }
    const before = this.#sample;
    this.#sample = sample;
    this.#rates = before && ratesBetween(before, sample);
    const lacksMntr = mntr.kind === "not-allowed";
    this.#looked = { state: "serving", sample, ...(lacksMntr && { lacksMntr }) };
  }
}

function textOf<T>(answer: WordAnswer, parse: (text: string) => T): T | undefined {
  return answer.kind === "answered" ? parse(answer.bytes.toString()) : undefined;
}

function failure(srvr: WordAnswer, mntr: WordAnswer): Looked {
  if (srvr.kind === "not-allowed" && mntr.kind !== "failed") return { state: "not-allowed" };
  const failed = [srvr, mntr].find((answer) => answer.kind === "failed");
  if (failed?.kind === "failed") return { state: "down", says: failed.says, why: failed.why };
  const isWithoutQuorum = [srvr, mntr].some(
    (answer) => answer.kind === "answered" && isNotServing(answer.bytes.toString()),
  );
  return isWithoutQuorum
    ? { state: "not-serving" }
    : { state: "down", says: "its answer is not ZooKeeper's" };
}
