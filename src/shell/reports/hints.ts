import type { TlsFileNames } from "../../config/tls-settings.ts";
import type { TlsProblem } from "../../errors.ts";

/** Hints by command and reason, for errors without their own hint. `*` is every other command. */
const HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create: {
    "node-exists": "set replaces the data of an existing znode",
    "invalid-acl": "auth:: needs an identity (--auth); a digest needs a hash (--hash-digests)",
    unimplemented:
      "TTLs need zookeeper.extendedTypesEnabled=true on the servers; containers need ZooKeeper 3.5",
  },
  set: { "no-node": "set --create creates the znode" },
  delete: { "not-empty": "deleteall deletes a znode and everything below it" },
  setAcl: {
    "invalid-acl": "auth:: needs an identity (addauth); a digest needs a hash (--hash-digests)",
  },
  getAcl: {
    "no-auth":
      "authenticate with --auth SCHEME:CRED, or addauth at the prompt, or log in with --sasl " +
      "digest:USER or --sasl gssapi",
  },
  addauth: { "auth-failed": "the server does not know the scheme or refused the credential" },
  config: {
    "no-node":
      "servers before 3.5, and ClickHouse Keeper before 23.7, have no dynamic configuration",
  },
  reconfig: {
    "connection-loss": "the change may have been made: config shows the present members",
    "reconfig-disabled": "the servers need reconfigEnabled=true",
    "no-auth": "reconfig needs the super user, or w permission on /zookeeper/config",
    unimplemented:
      "a standalone server cannot be reconfigured; ClickHouse Keeper needs enable_reconfiguration",
  },
  "*": {
    "not-a-hash":
      "use digest:USER:HASH:PERMS, as printed by getAcl, or --hash-digests with " +
      "digest:USER:PASSWORD:PERMS",
    "not-a-unique-lock":
      "leave out --recipe unique: the tickets of a queue lock are children of its path",
    "ticket-changing": "try again, or take the lock away with --force",
    "connection-loss":
      "the servers closed the connection, or the network failed; --debug shows the connections",
    "bad-version": "stat shows the present version",
    "quota-exceeded": "listquota shows the limits of a path",
    "no-auth":
      "authenticate with --auth SCHEME:CRED, or addauth at the prompt, or log in with --sasl " +
      "digest:USER or --sasl gssapi; getAcl shows the permissions",
    "sasl-refused":
      "check the user and the password; a server may also want Kerberos (--sasl gssapi); servers newer than 3.9.5 refuse every DIGEST-MD5 login " +
      "unless they are started with -Dzookeeper.fips-mode=false",
    "sasl-ignored":
      "check the user and the password; writes that left with the login may have been carried out " +
      "without an identity",
    "sasl-not-offered":
      "leave out --sasl or --jaas, or give the server a JAAS file with a section Server and an " +
      "authProvider for SASL",
    "sasl-required":
      "log in with --sasl digest:USER or --sasl gssapi, or with --jaas FILE as Java clients do",
    "sasl-ticket-refused":
      "the server's log has the reason: mostly it has another key than the KDC, or its clock differs",
    "sasl-other-mechanism": "log in with --sasl digest:USER",
    "sasl-no-credentials": "run kinit, or log in with --keytab FILE and --principal NAME",
    "sasl-ticket-expired": "run kinit again, or log in with --keytab FILE, which needs no tickets",
    "sasl-unknown-service":
      "name the service and the host of the server's principal with --sasl-service NAME and " +
      "--sasl-host HOST",
    "sasl-kdc-unreachable":
      "check the realm and its KDCs in /etc/krb5.conf, or in the file that KRB5_CONFIG names",
    "sasl-package-missing":
      "install it where zksh is installed: npm install -g koffi for a global zksh",
    "sasl-library-missing":
      "install MIT Kerberos: libgssapi-krb5-2 (Debian, Ubuntu), krb5-libs (Fedora, Red Hat), krb5 " +
      "(Alpine, Homebrew)",
    "sasl-unproved":
      "the server may be another one that only looks like yours: check its address, and use --tls",
    "sasl-unavailable": "run zksh with a Node.js that is not in FIPS mode",
    "keeper-password-required": "give it with --keeper-password-file FILE",
    "keeper-password-refused": "check the file of --keeper-password-file",
    "request-too-large":
      "if jute.maxbuffer of the servers is larger, raise the limit with --max-request SIZE",
    "reply-too-long": "raise the limit with --max-reply SIZE, for example 512m",
  },
};

export function tlsHint(problem: TlsProblem, { trust, own }: TlsFileNames = {}): string {
  if (problem === "tls-expected")
    return "use --tls, or --tls-ca FILE with the certificate of the server's CA";
  if (problem === "client-certificate")
    return own === undefined
      ? "present a certificate with --tls-keystore FILE, or with --tls-cert and --tls-key"
      : `the server may not trust the CA of the certificate in ${own}, or the certificate has expired`;
  return trust === undefined
    ? "name the file with the certificate of the server's CA: --tls-ca FILE"
    : `the CA of the server is not in ${trust}: add it there, or name another file`;
}

export interface HintDetails {
  /** No option and no variable names a server. */
  readonly isDefaultServer?: boolean | undefined;
  /** The command was typed at the prompt of the interactive shell. */
  readonly isAtPrompt?: boolean | undefined;
  /** The limit that a semaphore's path records. */
  readonly recordedLimit?: number | undefined;
  /** Why a server could not be reached. */
  readonly tlsProblem?: TlsProblem | undefined;
  readonly tlsFiles?: TlsFileNames | undefined;
}

export function hintFor(
  command: string | undefined,
  reason: string,
  details: HintDetails = {},
): string | undefined {
  const { isDefaultServer = false, isAtPrompt = false } = details;
  const { recordedLimit, tlsProblem, tlsFiles } = details;
  // Elsewhere the program ends with its session.
  if (isAtPrompt && reason === "session-expired")
    return "the shell opens a new session: type the command again";
  if (tlsProblem !== undefined) return tlsHint(tlsProblem, tlsFiles);
  // A user who gave servers needs no hint about giving servers.
  if (isDefaultServer && reason === "unreachable" && command !== "connect") {
    return "give the servers with -s HOSTS, or use --embedded to try zksh without a server";
  }
  if (recordedLimit !== undefined) {
    return `use --limit ${recordedLimit}, or replace the limit with --set-limit`;
  }
  return HINTS[command ?? "*"]?.[reason] ?? HINTS["*"]?.[reason];
}
