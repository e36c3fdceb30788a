import { PermissionError, ZkshError } from "../../../errors.ts";
import type { FrameReader } from "../../../wire/frames.ts";
import { JuteReader, JuteWriter, MalformedFrameError } from "../../../wire/jute.ts";
import { ErrorCode, Opcode, Xid } from "../../../wire/protocol.ts";
import { errorName } from "../requests/error-codes.ts";
import type { SaslMechanism } from "./sasl-mechanism.ts";

/** A longer message of a server is refused. Tickets of Kerberos with many groups have 64 KB. */
export const MAX_SASL_BYTES = 128 * 1024;

/**
 * The login of a session on one connection. Its messages are ordinary requests, which the server
 * that one is connected to answers itself: they prove nothing about the leader, so the lease counts
 * none of them.
 */
export class SaslLogin {
  readonly #user: string;
  readonly #server: string;
  readonly #mechanism: SaslMechanism;
  /** The next message. */
  #message: Buffer;
  #isAnswering = false;
  #isGivenUp = false;
  /** The server has had something to judge. */
  readonly #isJudgedAtOnce: boolean;

  /** Makes the first message for `server`. Throws PermissionError. */
  static async begin(mechanism: SaslMechanism, server: string): Promise<SaslLogin> {
    return new SaslLogin(mechanism, server, await mechanism.begin());
  }

  private constructor(mechanism: SaslMechanism, server: string, first: Buffer) {
    this.#user = mechanism.user;
    this.#server = server;
    this.#mechanism = mechanism;
    this.#message = first;
    this.#isJudgedAtOnce = first.length > 0;
  }

  /** `DIGEST-MD5 as bob`, for the trace. */
  get what(): string {
    return `${this.#mechanism.name} as ${this.#user}`;
  }

  /** Writes the next message. */
  load(writer: JuteWriter): void {
    const frame = writer.beginFrame();
    writer.int(Xid.sasl);
    writer.int(Opcode.sasl);
    writer.buffer(this.#message);
    writer.endFrame(frame);
  }

  /**
   * Answers the challenges that have come. True when the next message is the last one and has not
   * been sent: it leaves together with the requests that wait. Throws PermissionError.
   */
  async answerChallenges(frames: FrameReader, send: (bytes: Buffer) => void): Promise<boolean> {
    if (this.#isAnswering) return false;
    this.#isAnswering = true;
    const reader = new JuteReader();
    while (!this.#isGivenUp && frames.next(reader)) {
      this.#message = await this.#answer(this.#readChallenge(reader));
      if (this.#mechanism.isComplete) return true;
      const writer = new JuteWriter();
      this.load(writer);
      send(writer.take());
    }
    this.#isAnswering = false;
    return false;
  }

  /** The connection is broken: what it has brought is not read. */
  giveUp(): void {
    this.#isGivenUp = true;
  }

  /** Why the answer to the last message is no login; undefined when the session is logged in. */
  failureOf(code: number, body: JuteReader): PermissionError | undefined {
    if (code !== 0) return this.#refused(code);
    const answer = body.buffer();
    if (this.#isProof(answer ?? Buffer.alloc(0))) return undefined;
    if (answer === null)
      return new PermissionError(
        "sasl-ignored",
        `${this.#server} did not accept the login of ${this.#user}, and went on without it: the ` +
          "password is wrong or the user unknown (allowSaslFailedClients)",
      );
    return new PermissionError(
      "sasl-unproved",
      `${this.#server} did not prove itself to ${this.#user}: its answer to the login is wrong`,
    );
  }

  #isProof(answer: Buffer): boolean {
    try {
      return this.#mechanism.isProof(answer);
    } catch {
      return false;
    }
  }

  #readChallenge(reader: JuteReader): Buffer {
    const xid = reader.int();
    reader.long(); // the zxid, which is 0
    const code = reader.int();
    if (xid !== Xid.sasl) throw new MalformedFrameError(`the server answered request ${xid}`);
    if (code !== 0) throw this.#refused(code);
    const challenge = reader.buffer();
    if (challenge !== null) return challenge;
    throw new PermissionError(
      "sasl-not-offered",
      this.#isJudgedAtOnce
        ? `${this.#server} does not answer the login of ${this.#user}: it does not do SASL, or it ` +
            "goes on without a login that it refused (allowSaslFailedClients)"
        : `${this.#server} does not do SASL: ${this.#user} cannot log in there`,
    );
  }

  async #answer(challenge: Buffer): Promise<Buffer> {
    try {
      return await this.#mechanism.step(challenge);
    } catch (cause) {
      if (cause instanceof ZkshError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new PermissionError(
        "sasl-failed",
        `the ${this.#mechanism.name} login of ${this.#user} at ${this.#server} failed: ${why}`,
        { cause },
      );
    }
  }

  /** A server that requires SASL says so (-124) also of a login that failed. */
  #refused(code: number): PermissionError {
    const { reason, why } = this.#mechanism.refusal;
    return new PermissionError(
      reason,
      `${this.#server} refused the login of ${this.#user}: ${why} (${errorName(code)})`,
      { code },
    );
  }
}

/** Answers to other requests have this error where a login is required and was not made. */
export function loginRequired(server: string): PermissionError {
  return new PermissionError(
    "sasl-required",
    `${server} requires a SASL login (${errorName(ErrorCode.sessionClosedRequireSaslAuth)})`,
    { code: ErrorCode.sessionClosedRequireSaslAuth },
  );
}
