/**
 * The options of the program itself, as data: the splitter, the settings and `help` all read this
 * table.
 */

export interface GlobalOption {
  readonly name: string;
  /**
   * A letter, understood before the command word, and behind it where the command has no option of
   * that letter.
   */
  readonly short?: string;
  /** zkCli's spelling with one dash, understood before the command word. */
  readonly zkcli?: string;
  /** False where only the short or the zkCli spelling exists. */
  readonly long?: false;
  /** The word that stands for the value; an option without one is a switch. */
  readonly value?: string;
  readonly env?: string;
  /** What is given on the command line reaches the programs that we run, as its variable. */
  readonly isPassedOn?: true;
  /** May also be given on one line of the shell or of a script, and then holds for that line. */
  readonly holdsForOneLine?: true;
  /**
   * Where the settings file may have it: only outside profiles, or nowhere. Left out: in profiles
   * too, in camel case (`tlsCa`) or in an object (`tls: { ca }`).
   */
  readonly storedIn?: "file" | "nowhere";
  readonly summary: string;
}

export const globalOptions = [
  {
    name: "profile",
    value: "NAME",
    env: "ZKSH_PROFILE",
    storedIn: "file",
    summary: "use this profile of the settings file; @NAME is the same",
  },
  {
    name: "server",
    short: "-s",
    zkcli: "-server",
    value: "HOSTS",
    env: "ZKSH_SERVER",
    summary: "host[:port],…[/chroot] or dns-srv://NAME[/chroot] (default localhost:2181)",
  },
  {
    name: "timeout",
    short: "-t",
    zkcli: "-timeout",
    value: "DUR",
    env: "ZKSH_TIMEOUT",
    isPassedOn: true,
    summary: "request this session timeout (default 30s)",
  },
  {
    name: "connect-timeout",
    value: "DUR",
    env: "ZKSH_CONNECT_TIMEOUT",
    isPassedOn: true,
    summary: "give up after this time without a server (default 10s)",
  },
  {
    name: "max-reply",
    value: "SIZE",
    env: "ZKSH_MAX_REPLY",
    isPassedOn: true,
    summary: "refuse longer replies (default 64m, lists 128m)",
  },
  {
    name: "max-request",
    value: "SIZE",
    env: "ZKSH_MAX_REQUEST",
    isPassedOn: true,
    summary: "refuse longer requests (default 1m less 1 byte)",
  },
  {
    name: "read-only",
    short: "-r",
    env: "ZKSH_READ_ONLY",
    summary: "accept a read-only server, refuse every write",
  },
  { name: "embedded", storedIn: "nowhere", summary: "start a private server in memory and use it" },
  {
    name: "auth",
    value: "SCHEME:CRED",
    storedIn: "nowhere",
    summary: "authenticate the session, like addauth; may be repeated",
  },
  {
    name: "auth-file",
    value: "FILE",
    env: "ZKSH_AUTH_FILE",
    summary: "the same from a file, one SCHEME:CRED per line",
  },
  {
    name: "sasl",
    value: "MECHANISM",
    env: "ZKSH_SASL",
    summary: "digest:USER (asks for the password) or gssapi (Kerberos)",
  },
  {
    name: "sasl-file",
    value: "FILE",
    env: "ZKSH_SASL_FILE",
    summary: "the password, or digest:USER:PASSWORD (mode 0600)",
  },
  {
    name: "sasl-service",
    value: "NAME",
    env: "ZKSH_SASL_SERVICE",
    summary: "the service of the server's Kerberos principal (default zookeeper)",
  },
  {
    name: "sasl-host",
    value: "HOST",
    env: "ZKSH_SASL_HOST",
    summary: "the host of that principal (default: the one connected to)",
  },
  {
    name: "keytab",
    value: "FILE",
    env: "ZKSH_KEYTAB",
    summary: "log in with a key of this file instead of the ticket cache",
  },
  {
    name: "principal",
    value: "NAME",
    env: "ZKSH_PRINCIPAL",
    summary: "whose key or ticket, when there are several",
  },
  {
    name: "jaas",
    value: "FILE[#SECTION]",
    env: "ZKSH_JAAS",
    summary: "log in as this Java login configuration says",
  },
  {
    name: "keeper-password-file",
    value: "FILE",
    env: "ZKSH_KEEPER_PASSWORD_FILE",
    isPassedOn: true,
    summary: "the password that a ClickHouse Keeper asks clients for",
  },
  {
    name: "tls",
    env: "ZKSH_TLS",
    isPassedOn: true,
    summary: "connect with TLS (implied by the --tls options below)",
  },
  {
    name: "tls-ca",
    value: "FILE",
    env: "ZKSH_TLS_CA",
    isPassedOn: true,
    summary: "trust these CA certificates (PEM)",
  },
  {
    name: "tls-truststore",
    value: "FILE",
    env: "ZKSH_TLS_TRUSTSTORE",
    isPassedOn: true,
    summary: "trust the certificates of this store (PEM, PKCS12, JKS)",
  },
  {
    name: "tls-truststore-password-file",
    value: "FILE",
    env: "ZKSH_TLS_TRUSTSTORE_PASSWORD_FILE",
    isPassedOn: true,
    summary: "the password of the trust store",
  },
  {
    name: "tls-cert",
    value: "FILE",
    env: "ZKSH_TLS_CERT",
    isPassedOn: true,
    summary: "present this client certificate (PEM)",
  },
  {
    name: "tls-key",
    value: "FILE",
    env: "ZKSH_TLS_KEY",
    isPassedOn: true,
    summary: "the private key of the client certificate (PEM)",
  },
  {
    name: "tls-key-password-file",
    value: "FILE",
    env: "ZKSH_TLS_KEY_PASSWORD_FILE",
    isPassedOn: true,
    summary: "the password of an encrypted key (mode 0600)",
  },
  {
    name: "tls-keystore",
    value: "FILE",
    env: "ZKSH_TLS_KEYSTORE",
    isPassedOn: true,
    summary: "present the certificate of this store (PEM, PKCS12, JKS)",
  },
  {
    name: "tls-keystore-password-file",
    value: "FILE",
    env: "ZKSH_TLS_KEYSTORE_PASSWORD_FILE",
    isPassedOn: true,
    summary: "the password of the key store (mode 0600)",
  },
  {
    name: "tls-servername",
    value: "NAME",
    env: "ZKSH_TLS_SERVERNAME",
    isPassedOn: true,
    summary: "expect this name in the server's certificate",
  },
  {
    name: "tls-insecure",
    env: "ZKSH_TLS_INSECURE",
    isPassedOn: true,
    summary: "accept every server certificate (insecure)",
  },
  {
    name: "client-configuration",
    zkcli: "-client-configuration",
    long: false,
    value: "FILE",
    env: "ZKSH_CLIENT_CONFIGURATION",
    isPassedOn: true,
    summary: "read zkCli's or Kafka's TLS properties from this file",
  },
  {
    name: "zk-tls-config-file",
    zkcli: "-zk-tls-config-file",
    value: "FILE",
    summary: "the same, as Kafka's tools call it",
  },
  {
    name: "waitforconnection",
    zkcli: "-waitforconnection",
    long: false,
    storedIn: "nowhere",
    summary: "keep connecting for the whole session timeout",
  },
  {
    name: "output",
    short: "-o",
    value: "FORMAT",
    env: "ZKSH_OUTPUT",
    holdsForOneLine: true,
    storedIn: "file",
    summary: "text, json or zkcli (default text)",
  },
  {
    name: "json",
    holdsForOneLine: true,
    storedIn: "nowhere",
    summary: "the same as --output json",
  },
  {
    name: "color",
    value: "WHEN",
    holdsForOneLine: true,
    storedIn: "file",
    summary: "auto (the default: see help output), always or never",
  },
  {
    name: "command",
    short: "-c",
    long: false,
    value: "TEXT",
    storedIn: "nowhere",
    summary: "run the commands in TEXT",
  },
  {
    name: "file",
    short: "-f",
    long: false,
    value: "FILE",
    storedIn: "nowhere",
    summary: "run the commands in FILE; - is stdin",
  },
  { name: "keep-going", storedIn: "nowhere", summary: "continue a script after a failure" },
  {
    name: "yes",
    short: "-y",
    env: "ZKSH_YES",
    holdsForOneLine: true,
    storedIn: "nowhere",
    summary: "answer yes to every question",
  },
  {
    name: "write",
    holdsForOneLine: true,
    storedIn: "nowhere",
    summary: "write where the profile is read-only or protects paths",
  },
  {
    name: "no-config",
    env: "ZKSH_NO_CONFIG",
    storedIn: "nowhere",
    summary: "do not read the settings file",
  },
  {
    name: "no-input",
    env: "ZKSH_NO_INPUT",
    storedIn: "nowhere",
    summary: "never ask a question; refuse instead",
  },
  {
    name: "no-pager",
    holdsForOneLine: true,
    storedIn: "nowhere",
    summary: "never show long results in a pager (ZKSH_PAGER)",
  },
  {
    name: "quiet",
    short: "-q",
    holdsForOneLine: true,
    storedIn: "nowhere",
    summary: "print no notes and no progress",
  },
  {
    name: "verbose",
    short: "-v",
    holdsForOneLine: true,
    storedIn: "nowhere",
    summary: "print more notes and progress",
  },
  {
    name: "debug",
    env: "ZKSH_DEBUG",
    holdsForOneLine: true,
    storedIn: "nowhere",
    summary: "trace the protocol and print stack traces (stderr)",
  },
] as const satisfies readonly GlobalOption[];

/** Those that may also be given on one line of the shell or of a script. */
export const oneLineOptions = globalOptions.filter((option) => "holdsForOneLine" in option);

export type GlobalName = (typeof globalOptions)[number]["name"];

/** What was written on the command line, not yet read: the values in order; `true` for a switch. */
export type GlobalFlags = { readonly [Name in GlobalName]?: readonly string[] };

/** An option's main spelling, for messages. */
export function globalSpelling({ name, long, zkcli, short }: GlobalOption): string {
  return long === false ? (zkcli ?? short ?? name) : `--${name}`;
}

/** How an option is written in help: `-s, --server HOSTS`. */
export function globalTerm(option: GlobalOption): string {
  const spelling = globalSpelling(option);
  const both =
    option.short === undefined || option.short === spelling
      ? spelling
      : `${option.short}, ${spelling}`;
  return option.value === undefined ? both : `${both} ${option.value}`;
}
