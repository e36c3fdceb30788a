import type { JuteWriter } from "../../../wire/jute.ts";
import { ErrorCode, Opcode, Xid } from "../../../wire/protocol.ts";
import type { Identity } from "../../session.ts";
import { MAX_LOSSES } from "../requests/request.ts";

interface Credential {
  readonly scheme: string;
  readonly bytes: Buffer;
  /** Called with the first answer; later replays have no caller. */
  settle: ((failure: { code: number } | null) => void) | undefined;
  /** How many connections were lost before it was answered. */
  losses: number;
}

/**
 * The identities of a session: each is proved once, and again on every new connection before
 * anything else is sent.
 */
export class Credentials {
  readonly #known: Credential[] = [];
  readonly #sent = new Set<Credential>();
  #awaiting: { readonly credential: Credential; readonly sentAt: number }[] = [];

  /**
   * The oldest with a caller that the server has not answered: it answers credentials when it reads
   * them, before the requests it is working on. Credentials that were only replayed are no reason
   * to leave a server that answers everything else.
   */
  get oldestSentAt(): number | undefined {
    return this.#awaiting.find(({ credential }) => credential.settle)?.sentAt;
  }

  /** Returns the function that takes it back, as long as it has not been sent. */
  add(
    scheme: string,
    bytes: Buffer,
    settle?: (failure: { code: number } | null) => void,
  ): () => void {
    const credential: Credential = { scheme, bytes, settle, losses: 0 };
    this.#known.push(credential);
    return () => {
      if (!this.#sent.has(credential) && this.#known.includes(credential)) this.#forget(credential);
    };
  }

  /** Their ids as ACLs have them; node:crypto is loaded only here. */
  async ids(): Promise<Identity[]> {
    const { digestId } = await import("../../hash-digests.ts");
    return this.#known.map(({ scheme, bytes }) => ({
      scheme,
      id: scheme === "digest" ? digestId(bytes) : "",
    }));
  }

  /** Writes those that this connection has not seen; all of them after {@link connectionLost}. */
  load(writer: JuteWriter, sentAt: number): void {
    for (const credential of this.#known) {
      if (this.#sent.has(credential)) continue;
      this.#sent.add(credential);
      this.#awaiting.push({ credential, sentAt });
      const frame = writer.beginFrame();
      writer.int(Xid.auth);
      writer.int(Opcode.auth);
      writer.int(0);
      writer.string(credential.scheme);
      writer.buffer(credential.bytes);
      writer.endFrame(frame);
    }
  }

  /**
   * The server has judged the oldest credential in flight. A refused one is forgotten; `isFatal`
   * when it is one that the session was opened with or had been granted, because going on without
   * the session would go on with another identity.
   */
  answered(code: number): { isFatal: boolean } {
    const credential = this.#awaiting.shift()?.credential;
    if (credential === undefined) return { isFatal: false };
    const { settle } = credential;
    credential.settle = undefined;
    if (code !== 0) this.#forget(credential);
    settle?.(code === 0 ? null : { code });
    return { isFatal: code !== 0 && settle === undefined };
  }

  /** All are sent again on the next connection, except new ones that were lost too often. */
  connectionLost({ hadSession }: { hadSession: boolean }): void {
    const lost = this.#awaiting.map(({ credential }) => credential);
    this.#awaiting = [];
    this.#sent.clear();
    if (!hadSession) return;
    for (const credential of lost) {
      const { settle } = credential;
      credential.losses++;
      if (settle === undefined || credential.losses < MAX_LOSSES) continue;
      this.#forget(credential);
      settle({ code: ErrorCode.connectionLoss });
    }
  }

  /** The session is over: callers that still wait get this error number. */
  lose(code: number = ErrorCode.sessionExpired): void {
    for (const { settle } of this.#known.splice(0)) settle?.({ code });
  }

  #forget(credential: Credential): void {
    this.#known.splice(this.#known.indexOf(credential), 1);
  }
}
