/** Why a server could not be used, in words, and whether trying again soon can help. */

import { PermissionError, type TlsProblem } from "../../../errors.ts";

export interface ConnectFailure {
  readonly says: string;
  /**
   * `permanent`: the same answer will come again (wrong certificate, not a ZooKeeper, no such host).
   * `refused`: no server listens there now. `transient`: anything else.
   */
  readonly kind: "permanent" | "refused" | "transient";
  readonly tlsProblem?: TlsProblem;
  /** The server closed the connection in good order, without a reason. */
  readonly isHangUp?: true;
}

/**
 * What sockets and TLS add to an error. OpenSSL's messages name its source files; its `reason` is
 * meant for people.
 */
interface SocketError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

const transient = (says: string): ConnectFailure => ({ says, kind: "transient" });
const refused = (says: string): ConnectFailure => ({ says, kind: "refused" });
const permanent = (says: string): ConnectFailure => ({ says, kind: "permanent" });
const untrusted = (says: string): ConnectFailure => ({
  ...permanent(says),
  tlsProblem: "untrusted-certificate",
});

const BY_CODE: Readonly<Record<string, ConnectFailure>> = {
  ECONNREFUSED: refused("connection refused"),
  EACCES: permanent("not permitted: the server belongs to another user"),
  ENOENT: refused("no such socket"),
  EHOSTUNREACH: refused("no route to host"),
  ENETUNREACH: refused("network unreachable"),
  EADDRNOTAVAIL: refused("address not available"),
  ENOTFOUND: permanent("no such host"),
  EAI_AGAIN: transient("the DNS server does not answer"),
  ECONNRESET: transient("the server dropped the connection"),
  EPIPE: transient("the server dropped the connection"),
  ETIMEDOUT: transient("no answer"),
  CERT_HAS_EXPIRED: permanent("the server's certificate has expired"),
  CERT_NOT_YET_VALID: permanent("the server's certificate is not valid yet"),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted(
    "the server's certificate is not signed by a trusted CA",
  ),
  UNABLE_TO_GET_ISSUER_CERT: untrusted("the server's certificate is not signed by a trusted CA"),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted(
    "the server's certificate is not signed by a trusted CA",
  ),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted(
    "the server's certificate is signed by a CA that is not trusted",
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted(
    "the server's certificate is self-signed, and it is not trusted",
  ),
  CERT_SIGNATURE_FAILURE: untrusted(
    "the server's certificate is not signed by the CA that is trusted",
  ),
  CERT_REVOKED: permanent("the server's certificate has been revoked"),
  ERR_SSL_WRONG_VERSION_NUMBER: permanent("the server does not speak TLS on this port"),
  ERR_SSL_PACKET_LENGTH_TOO_LONG: permanent("the server does not speak TLS on this port"),
  ERR_OSSL_PEM_NO_START_LINE: permanent("the client certificate or its key is not in PEM form"),
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: permanent(
    "the client key does not belong to the client certificate",
  ),
};

/**
 * From a socket, TLS or name-server error; `undefined` is an orderly close, which TLS ports answer
 * `isPlain` with too. `isHandshake`: no answer to the handshake had come.
 */
export function connectFailureOf(
  error: Error | undefined,
  { isPlain = false, isHandshake = false } = {},
): ConnectFailure {
  if (error === undefined) {
    const says = `the server closed the connection; it may have no quorum${isPlain ? ", or expect TLS" : ""}`;
    return { ...transient(says), ...(isHandshake && { isHangUp: true }) };
  }
  const { code = "", reason = error.message, cert } = error as SocketError;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    // The reason alone lists only the addresses when it is an address that does not match.
    return permanent(
      `the server's certificate is for another name: ${cert?.subjectaltname ?? reason}`,
    );
  }
  const known = BY_CODE[code];
  if (known !== undefined) {
    const handshake = code === "ECONNRESET" && /secure TLS connection/.test(error.message);
    return handshake
      ? transient(
          "the server dropped the connection during the TLS handshake; is this its secure port?",
        )
      : known;
  }
  const alert =
    /alert ((?:bad |unsupported )?certificate[a-z ]*|unknown ca|handshake failure|internal error)/.exec(
      reason,
    );
  if (alert) {
    const says = `the server refused the TLS handshake (${alert[1]}); it may require a client certificate`;
    return { ...permanent(says), tlsProblem: "client-certificate" };
  }
  if (/^ERR_(SSL|TLS|OSSL)/.test(code)) return permanent(`TLS failed: ${reason}`);
  return transient(error.message);
}

/** From an error of the name server that was asked for SRV records. */
export function srvFailureOf(error: NodeJS.ErrnoException): ConnectFailure {
  if (error.code === "ENODATA" || error.code === "ENOTFOUND")
    return permanent("this name has no SRV records");
  if (error.code === "EBADNAME") return permanent("this is no DNS name");
  // Node gives these the code of a refused or slow connection, which is that to the DNS server.
  return transient("the DNS server does not answer");
}

/** What ClickHouse Keeper answers while it cannot serve a client; the next server may. */
const KEEPER_NOT_ACTIVE = 42;

/** Only version 0 is known: what an answer of another version means cannot be relied on. */
export function unknownProtocol(version: number): ConnectFailure {
  if (version === KEEPER_NOT_ACTIVE)
    return transient("this ClickHouse Keeper is not active: it has no leader, or is overloaded");
  return permanent(
    `the server speaks version ${version} of the handshake, which zksh does not know`,
  );
}

/** A ClickHouse Keeper that answers `srvr` has closed the connection instead of a handshake. */
export function keeperPasswordRefused(address: string, wasGiven: boolean): PermissionError {
  return wasGiven
    ? new PermissionError(
        "keeper-password-refused",
        `the ClickHouse Keeper ${address} does not accept the password`,
      )
    : new PermissionError(
        "keeper-password-required",
        `the ClickHouse Keeper ${address} asks clients for a password`,
      );
}

export const noAnswer = (): ConnectFailure => transient("no answer");

/** The first bytes were not a handshake: say what they look like. */
export function strangerFailure(bytes: Buffer): ConnectFailure {
  const text = bytes.subarray(0, 8).toString("latin1");
  if (text.startsWith("HTTP")) return permanent("not a ZooKeeper server: it answers in HTTP");
  if (bytes[0] === 0x15 && bytes[1] === 0x03)
    return { ...permanent("the server expects TLS on this port"), tlsProblem: "tls-expected" };
  if (/^SSH-/.test(text)) return permanent("not a ZooKeeper server: it answers in SSH");
  return permanent("not a ZooKeeper server: it answers in another protocol");
}

/**
 * An answer of the right shape, but not to a handshake (read-only servers without local sessions
 * send -119).
 */
export function refusedHandshake(code: number, name: string): ConnectFailure {
  if (code === -119)
    return transient(
      "the server is read-only and offers no sessions (localSessionsEnabled is off)",
    );
  return transient(`the server refused the session (${name})`);
}
