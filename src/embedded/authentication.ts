/** Who a client has proved to be, by `addauth` and by SASL DIGEST-MD5. */
import { randomBytes } from "node:crypto";
import { judgeResponse, MalformedDigestError, writeChallenge } from "../wire/digest-md5.ts";
import { ErrorCode } from "../wire/protocol.ts";
import { type AuthIdentity, authenticate } from "./access.ts";

/** Passwords by the names of their users. */
export type SaslUsers = ReadonlyMap<string, string>;

/** The answer to a SASL token; after an error the connection is closed. */
export interface SaslAnswer {
  readonly err: number;
  readonly token: Buffer | null;
}

const REFUSED: SaslAnswer = { err: ErrorCode.authFailed, token: null };
const NONCE_BYTES = 30;

export class Authentication {
  readonly #address: string;
  readonly #users: SaslUsers;
  readonly #identities: AuthIdentity[];
  /** Of the challenge that was sent last. */
  #nonce: string | undefined;
  #hasEnded = false;

  constructor(address: string, users: SaslUsers) {
    this.#address = address;
    this.#users = users;
    this.#identities = [{ scheme: "ip", id: address }];
  }

  get identities(): readonly AuthIdentity[] {
    return this.#identities;
  }

  /** True when the client has logged in by SASL. */
  get isSaslUser(): boolean {
    return this.#identities.some(({ scheme }) => scheme === "sasl");
  }

  /** Returns false when the credential proves nothing. */
  add(scheme: string, credential: Buffer | null): boolean {
    const identity = authenticate(scheme, credential, this.#address);
    if (identity === undefined) return false;
    const isKnown = this.#identities.some(
      (known) => known.scheme === identity.scheme && known.id === identity.id,
    );
    if (!isKnown) this.#identities.push(identity);
    return true;
  }

  /** The next step of DIGEST-MD5. A connection logs in once. */
  sasl(token: Buffer | null): SaslAnswer {
    // As ZooKeeper without a JAAS section: not an error, and no challenge either.
    if (this.#users.size === 0) return { err: 0, token: null };
    if (this.#hasEnded) return REFUSED;
    if (this.#nonce === undefined) {
      if (token !== null && token.length > 0) return this.#refuse();
      this.#nonce = randomBytes(NONCE_BYTES).toString("base64");
      return { err: 0, token: writeChallenge(this.#nonce) };
    }
    const login = this.#judge(token ?? Buffer.alloc(0), this.#nonce);
    if (login === undefined) return this.#refuse();
    this.#hasEnded = true;
    this.#identities.push({ scheme: "sasl", id: login.username });
    return { err: 0, token: login.message };
  }

  #judge(token: Buffer, nonce: string): ReturnType<typeof judgeResponse> {
    try {
      return judgeResponse(token, nonce, (username) => this.#users.get(username));
    } catch (error) {
      if (error instanceof MalformedDigestError) return undefined;
      throw error;
    }
  }

  #refuse(): SaslAnswer {
    this.#hasEnded = true;
    return REFUSED;
  }
}
