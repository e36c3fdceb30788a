/**
 * What a session asks the process that does its Kerberos, and what that answers: one JSON text a
 * line, tokens in base64, one answer for each request.
 */

export interface GssapiCredentials {
  /** A file of keys; left out: the ticket cache. */
  readonly keytab?: string;
  /** Whose keys or tickets; left out: the first ones. */
  readonly principal?: string;
  /** A ticket cache other than the default one. */
  readonly ticketCache?: string;
}

export type GssapiRequest =
  | ({
      /** Gets credentials and starts a new context, in place of the one before. */
      readonly op: "begin";
      /** `SERVICE@HOST`. */
      readonly target: string;
    } & GssapiCredentials)
  | { readonly op: "continue" | "unwrap" | "wrap"; readonly token: string };

export interface GssapiAnswer {
  readonly token: string;
  /** With `begin`: whose credentials these are. */
  readonly user?: string;
  /** Both sides have proved themselves. */
  readonly isEstablished?: boolean;
}

export type GssapiFailure =
  /** Something that has to be installed is missing. */
  | { readonly missing: "package" | "library"; readonly text: string }
  /** A call failed: GSSAPI's routine error, the error of Kerberos, and what the library says. */
  | { readonly major: number; readonly minor: number; readonly text: string };

export type GssapiReply = GssapiAnswer | { readonly failure: GssapiFailure };
