/** One entry of a connect string. */
export interface ServerAddress {
  /**
   * A name, an IP address, or the path of a socket in the file system, which begins with a slash.
   */
  readonly host: string;
  /** 0 for a socket in the file system, and for SRV records, which name ports themselves. */
  readonly port: number;
  /**
   * `host` is a DNS name whose SRV records name the servers. It is the only entry; the records are
   * looked up again for each round of connection attempts.
   */
  readonly isSrvName?: true;
}

/**
 * TLS to a server's secure port. Certificates and keys are PEM texts, not file names;
 * `readKeyStore` and `readTrustStore` take them out of PKCS12 and JKS stores.
 */
export interface TlsOptions {
  /** The authorities that are trusted. Left out: those of Node.js. */
  readonly ca?: Buffer;
  /** The client's certificate, and those that it was issued by. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** The password of an encrypted `key`. */
  readonly passphrase?: string;
  /** The name the certificate must carry, when it is not the host connected to. */
  readonly servername?: string;
  /** Accept any certificate. */
  readonly insecure?: boolean;
  /** Accept a certificate of a trusted authority under any name. */
  readonly anyServerName?: boolean;
  readonly minVersion?: TlsVersion;
  readonly maxVersion?: TlsVersion;
  /** Cipher suites by OpenSSL's names, separated by colons. */
  readonly ciphers?: string;
}

export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

/**
 * A login by SASL. It is another thing than the schemes of {@link SessionOptions.auth}: ACLs name
 * its user as `sasl:USER`.
 */
export type SaslOptions = DigestMd5Options | GssapiOptions;

/** A login with a password, by DIGEST-MD5. */
export interface DigestMd5Options {
  readonly mechanism: "DIGEST-MD5";
  /** The name that ACLs have after `sasl:`. */
  readonly username: string;
  /** It is not sent: client and server prove to each other that they know it. */
  readonly password: string;
}

/**
 * A login by Kerberos, with the tickets of the default cache unless told otherwise. It needs the
 * package koffi, and the system's GSSAPI library. Each connection takes new credentials, so that a
 * session can live longer than a ticket.
 */
export interface GssapiOptions {
  readonly mechanism: "GSSAPI";
  /** The service in the server's principal; `zookeeper` unless told. */
  readonly service?: string;
  /** The host in the server's principal, when it is not the host connected to. */
  readonly host?: string;
  /** The absolute path of a file of keys, used instead of tickets. */
  readonly keytab?: string;
  /** Whose tickets or keys, when there are several. */
  readonly principal?: string;
  /** The name of a ticket cache, such as `FILE:/tmp/krb5cc_1`. */
  readonly ticketCache?: string;
}

/** Everything needed to open a session. */
export interface SessionOptions {
  readonly servers: readonly ServerAddress[];
  /** Every path of the session is below this znode; empty for none. */
  readonly chroot?: string;
  /** The session timeout asked for; the server may change it. */
  readonly timeoutMs?: number;
  /** How long the first connection may take before the session gives up. */
  readonly connectTimeoutMs?: number;
  /**
   * How long to go on when every address refuses at once (no server listens there); at most
   * `connectTimeoutMs`.
   */
  readonly refusedTimeoutMs?: number;
  /**
   * The longest reply that is accepted, in bytes. Left out: 64 MB, and 128 MB for lists of names.
   */
  readonly maxReplyBytes?: number;
  /**
   * A longer request is refused instead of sent, in bytes: servers hang up on what is longer than
   * their jute.maxbuffer, and everything else on that connection is lost with it. Left out: none is
   * refused.
   */
  readonly maxRequestBytes?: number;
  /** May attach to a server that is cut off from its quorum. */
  readonly readOnly?: boolean;
  readonly auth?: readonly { readonly scheme: string; readonly credential: Buffer }[];
  readonly tls?: TlsOptions;
  /**
   * The password that a ClickHouse Keeper asks every client for; at most 16 bytes. Other servers do
   * not look at it.
   */
  readonly keeperPassword?: Buffer;
  /**
   * Logs the session in by SASL, on each of its connections before anything else. A server that
   * refuses the login, does not do SASL, or does not prove itself ends the session, with a
   * PermissionError.
   *
   * @example
   * ```ts
   * const sasl = { mechanism: "DIGEST-MD5", username: "bob", password: "…" } as const;
   * const session = openSession({ ...parseConnectString("zk1,zk2"), sasl });
   * await session.whoAmI(); // [{ scheme: "sasl", id: "bob" }, …]
   * ```
   */
  readonly sasl?: SaslOptions;
  /**
   * Gets one line for each event on the wire; credentials never appear in it. Looked up anew for
   * each line.
   */
  readonly trace?: ((line: string) => void) | undefined;
}
