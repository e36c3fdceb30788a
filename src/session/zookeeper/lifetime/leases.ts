import type { JuteReader, JuteWriter } from "../../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../../wire/protocol.ts";
import { readMultiHeader, writeMultiHeader } from "../../../wire/records.ts";
import { ANY_VERSION } from "../requests/multi.ts";
import { type Failure, Request } from "../requests/request.ts";
import type { Liveness } from "./liveness.ts";

/**
 * How many znodes one beat checks at most: with more, the beats take turns, so that none becomes a
 * large transaction.
 */
const MAX_CHECKS = 32;

interface Lease {
  readonly nodes: readonly string[];
  readonly onMissing: () => void;
}

/**
 * The znodes that locks of this session rest on. While there are any, the session's heartbeat is
 * `multi [check ZNODE…]`: a committed transaction, which a deposed leader cannot answer, that
 * changes nothing, wakes no watch, and also tells whether the znodes are still there.
 */
export class Leases {
  readonly #liveness: Liveness;
  readonly #kept = new Set<Lease>();
  #turn = 0;

  constructor(liveness: Liveness) {
    this.#liveness = liveness;
  }

  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  /**
   * From now on the session's life is its lease, and heartbeats check these znodes of the server.
   * Returns the function that ends it.
   */
  keep(nodes: readonly string[], onMissing: () => void): () => void {
    const lease = { nodes, onMissing };
    this.#kept.add(lease);
    this.#liveness.isLeased = true;
    return () => {
      this.#kept.delete(lease);
      this.#liveness.isLeased = !this.isEmpty;
    };
  }

  /** The next heartbeat. */
  beat(): Request {
    const checks = this.#nextChecks();
    const write = (writer: JuteWriter) => {
      for (const { node } of checks) {
        writeMultiHeader(writer, Opcode.check, false);
        writer.string(node);
        writer.int(ANY_VERSION);
      }
      writeMultiHeader(writer, -1, true);
    };
    const request = new Request(Opcode.multi, write, checks[0]?.node);
    request.callback = (failure: Failure | null, body: JuteReader | null) => {
      if (failure !== null || body === null) return;
      const missing = firstMissing(body);
      const lease = missing === undefined ? undefined : checks[missing]?.lease;
      if (lease !== undefined && this.#kept.has(lease)) lease.onMissing();
    };
    return request;
  }

  #nextChecks(): { readonly node: string; readonly lease: Lease }[] {
    const all = [...this.#kept].flatMap((lease) => lease.nodes.map((node) => ({ node, lease })));
    if (all.length <= MAX_CHECKS) return all;
    const from = (this.#turn++ * MAX_CHECKS) % all.length;
    return [...all.slice(from), ...all.slice(0, from)].slice(0, MAX_CHECKS);
  }
}

/**
 * The index of the check that failed because its znode is gone. A multi stops at the first failure:
 * the others say nothing.
 */
function firstMissing(body: JuteReader): number | undefined {
  for (let index = 0; ; index++) {
    const { type, done } = readMultiHeader(body);
    if (done) return undefined;
    if (type === Opcode.error && body.int() === ErrorCode.noNode) return index;
  }
}
