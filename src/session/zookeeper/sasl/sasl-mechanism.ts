/** How one connection of a session is logged in by SASL (RFC 4422); a new object for each. */
export interface SaslMechanism {
  /** Its registered name, such as `DIGEST-MD5`. */
  readonly name: string;
  /** Who logs in; known after {@link begin}. */
  readonly user: string;
  /** What it means when the server refuses the login. */
  readonly refusal: { readonly reason: string; readonly why: string };
  /** The client has made its last message: requests may follow it in the same write. */
  readonly isComplete: boolean;
  /** The first message; empty where the server speaks first. */
  begin(): Promise<Buffer>;
  /** The answer to a challenge of the server. */
  step(challenge: Buffer): Promise<Buffer>;
  /**
   * Judges what the server answers to the last message. Not awaited: the replies to requests stand
   * behind it and must not be read before it is judged.
   */
  isProof(answer: Buffer): boolean;
}
