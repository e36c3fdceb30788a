import { createHash, randomBytes } from "node:crypto";
import { PermissionError } from "../../../errors.ts";
import { isServerProof, readChallenge, respond } from "../../../wire/digest-md5.ts";
import type { DigestMd5Options } from "../../options.ts";
import type { SaslMechanism } from "./sasl-mechanism.ts";

const NOTHING = Buffer.alloc(0);

/** Empty message, challenge, response, and the server's proof that it knows the password too. */
export class DigestMd5Mechanism implements SaslMechanism {
  readonly name = "DIGEST-MD5";
  readonly refusal = {
    reason: "sasl-refused",
    why: "the password is wrong or the user unknown",
  } as const;
  readonly #login: DigestMd5Options;
  #serverProof: string | undefined;

  /** Throws PermissionError where Node has no MD5. */
  constructor(login: DigestMd5Options) {
    requireMd5();
    this.#login = login;
  }

  get user(): string {
    return this.#login.username;
  }

  get isComplete(): boolean {
    return this.#serverProof !== undefined;
  }

  async begin(): Promise<Buffer> {
    return NOTHING;
  }

  async step(challenge: Buffer): Promise<Buffer> {
    const cnonce = randomBytes(30).toString("base64");
    const { message, serverProof } = respond(readChallenge(challenge), this.#login, cnonce);
    this.#serverProof = serverProof;
    return message;
  }

  isProof(answer: Buffer): boolean {
    return this.#serverProof !== undefined && isServerProof(answer, this.#serverProof);
  }
}

/** A Node whose OpenSSL runs in FIPS mode refuses MD5. */
function requireMd5(): void {
  try {
    createHash("md5");
  } catch (cause) {
    throw new PermissionError(
      "sasl-unavailable",
      "DIGEST-MD5 needs MD5, which this Node.js does not offer (its OpenSSL is in FIPS mode)",
      { cause },
    );
  }
}
