import { PermissionError } from "../../../../errors.ts";
import type { GssapiOptions } from "../../../options.ts";
import type { Endpoint } from "../../connecting/link.ts";
import type { SaslMechanism } from "../sasl-mechanism.ts";
import { gssapiFailure, type Tried } from "./gssapi-failures.ts";
import { GssapiCallError, type GssapiProcess } from "./gssapi-process.ts";

const DEFAULT_SERVICE = "zookeeper";
/** Layers of RFC 4752: requests behind the login are neither signed nor encrypted. */
const NO_LAYER = 1;
/** No layer, no size of messages, and no name of another user to act as. */
const ANSWER = Buffer.from([NO_LAYER, 0, 0, 0]);

/**
 * Kerberos (RFC 4752): the ticket, an empty message when the server has proved itself, and the
 * agreement that nothing more is protected.
 */
export class GssapiMechanism implements SaslMechanism {
  readonly name = "GSSAPI";
  readonly refusal = {
    reason: "sasl-ticket-refused",
    why: "it did not accept the Kerberos ticket",
  } as const;
  readonly #process: GssapiProcess;
  readonly #options: GssapiOptions;
  readonly #server: string;
  readonly #target: string;
  #user = "";
  #isEstablished = false;
  #isComplete = false;

  constructor(process: GssapiProcess, options: GssapiOptions, { address, host }: Endpoint) {
    this.#process = process;
    this.#options = options;
    this.#server = address;
    this.#target = targetOf(options, host);
  }

  get user(): string {
    return this.#user;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Asks the KDC, where there are no tickets yet. Throws PermissionError. */
  async begin(): Promise<Buffer> {
    const { keytab, principal, ticketCache } = this.#options;
    const credentials = {
      ...(keytab !== undefined && { keytab }),
      ...(principal !== undefined && { principal }),
      ...(ticketCache !== undefined && { ticketCache }),
    };
    const target = this.#target;
    const tried: Tried = { ...credentials, server: this.#server, target };
    try {
      const answer = await this.#process.ask({ op: "begin", target, ...credentials });
      this.#user = answer.user ?? "";
      return Buffer.from(answer.token, "base64");
    } catch (error) {
      if (error instanceof GssapiCallError) throw gssapiFailure(error.failure, tried);
      throw new PermissionError(
        "sasl-failed",
        `cannot log in to ${this.#server} by Kerberos: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  async step(challenge: Buffer): Promise<Buffer> {
    if (!this.#isEstablished) {
      if (isOfDigestMd5(challenge)) throw this.#otherMechanism();
      const answer = await this.#ask("continue", challenge);
      this.#isEstablished = answer.isEstablished ?? false;
      return Buffer.from(answer.token, "base64");
    }
    const offer = Buffer.from((await this.#ask("unwrap", challenge)).token, "base64");
    if (offer.length !== ANSWER.length || ((offer[0] ?? 0) & NO_LAYER) === 0)
      throw new Error("the server wants to sign or encrypt what follows");
    this.#isComplete = true;
    return Buffer.from((await this.#ask("wrap", ANSWER)).token, "base64");
  }

  /** The server has proved itself before; it has nothing to add. */
  isProof(answer: Buffer): boolean {
    return answer.length === 0;
  }

  #otherMechanism(): PermissionError {
    return new PermissionError(
      "sasl-other-mechanism",
      `${this.#server} does not take the Kerberos ticket of ${this.#user}: it wants DIGEST-MD5`,
    );
  }

  #ask(op: "continue" | "unwrap" | "wrap", token: Buffer) {
    return this.#process.ask({ op, token: token.toString("base64") });
  }
}

/** Servers choose the mechanism, whatever the client has begun with. */
function isOfDigestMd5(challenge: Buffer): boolean {
  return challenge.subarray(0, 256).includes("algorithm=md5-sess");
}

/** The server's name for GSSAPI, which makes `SERVICE/HOST@REALM` of it. */
export function targetOf({ service = DEFAULT_SERVICE, host }: GssapiOptions, at: string): string {
  return `${service}@${host ?? at}`;
}
