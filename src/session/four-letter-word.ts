/** What becomes of a four-letter word that is sent to a server. */

import type { ServerAddress, SessionOptions, TlsOptions } from "./options.ts";

/**
 * `dns`: the name has no address. `refused`: no server listens there. `unreachable`: no connection came about. `no-answer`:
 * the connection was accepted, and no answer came. `closed`: the server hung up without an answer, as servers do with a
 * word that they do not know. `expects-tls`: a plain client at a TLS port. `not-tls`: a TLS client at a plain port.
 * `tls`: TLS failed for another reason, such as a certificate. `too-long`: the answer had no end.
 */
export type WordFailure =
  | "dns"
  | "refused"
  | "unreachable"
  | "no-answer"
  | "closed"
  | "expects-tls"
  | "not-tls"
  | "tls"
  | "too-long"
  | "failed";

export type WordAnswer =
  | {
      readonly kind: "answered";
      /** Exactly what the server sent: not trusted, and not always text. */
      readonly bytes: Buffer;
      /** From the first byte of the word to the end of the answer. */
      readonly ms: number;
    }
  /** The word is not in the server's `4lw.commands.whitelist`. */
  | { readonly kind: "not-allowed" }
  | {
      readonly kind: "failed";
      readonly why: WordFailure;
      /** The reason as words for people. */
      readonly says: string;
    };

export interface WordOptions {
  readonly tls?: TlsOptions | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the connection and the answer together; three seconds when left out. */
  readonly timeoutMs?: number;
  /** One of the addresses of the server's name. Left out: the system chooses. */
  readonly ip?: string | undefined;
}

/** The addresses of a name, or why there are none. */
export type HostAddresses =
  | { readonly kind: "found"; readonly ips: readonly string[] }
  | {
      readonly kind: "failed";
      /** The reason as words for people. */
      readonly says: string;
    };

/** The servers one by one, beside any session. */
export interface Servers {
  /** Where the shell's sessions go: the servers, the chroot, and TLS if it is on. */
  options(): Promise<
    Pick<SessionOptions, "servers" | "chroot" | "tls" | "readOnly" | "maxRequestBytes">
  >;
  /** The server that the shell's session is attached to; undefined without a session. */
  attached(): ServerAddress | undefined;
  /**
   * Sends a four-letter word to one server, at `ip` if its name has several addresses, on a
   * connection of its own. Rejects only when the command is interrupted.
   */
  ask(server: ServerAddress, word: string, ip?: string): Promise<WordAnswer>;
  /** Looks up a name. Rejects only when the command is interrupted. */
  addresses(host: string): Promise<HostAddresses>;
}

/** Whether the server refused `word` because of its whitelist. */
export function isNotAllowed(answer: Buffer, word: string): boolean {
  const refusal = `${word} is not executed because it is not in the whitelist.`;
  return answer.length <= refusal.length + 2 && answer.toString("latin1").trimEnd() === refusal;
}
