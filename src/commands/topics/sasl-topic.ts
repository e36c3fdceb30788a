import type { Topic } from "./help-topics.ts";

/** `help sasl`. */
export const saslTopic: Topic = {
  name: "sasl",
  summary: "log in to servers of Kafka, HBase and others: DIGEST-MD5, Kerberos",
  sections: () => [
    {
      title: "Examples",
      rows: [
        { term: "zksh --sasl digest:bob", summary: "asks for the password of bob" },
        { term: "zksh --sasl-file ~/.zk-bob ls /", summary: "reads user and password from it" },
        { term: "zksh --jaas client.jaas ls /brokers", summary: "logs in as a Java client does" },
        { term: "zksh --jaas client.jaas#Admin whoami", summary: "takes the section Admin" },
        { term: "kinit; zksh --sasl gssapi whoami", summary: "logs in with a Kerberos ticket" },
        {
          term: "zksh --sasl gssapi --keytab zk.keytab ls /",
          summary: "logs in with a key, without kinit",
        },
      ],
    },
    {
      title: "Who logs in",
      rows: [
        {
          term: "--sasl digest:USER",
          summary: "this user; the password is asked for on a terminal, or is in --sasl-file",
        },
        {
          term: "--sasl digest:USER:PASSWORD",
          summary: "with the password, which other users can see in the list of processes",
        },
        {
          term: "--sasl-file FILE",
          summary:
            "one line: the password of that user, or digest:USER:PASSWORD; only its owner should be " +
            "able to read it (chmod 600)",
        },
        {
          term: "--jaas FILE[#SECTION]",
          summary:
            "the DigestLoginModule or Krb5LoginModule of a Java login configuration; the section " +
            "is Client unless another one is named",
        },
        {
          term: "--sasl gssapi",
          summary: "Kerberos (GSSAPI), with the tickets of the default cache (kinit)",
        },
        {
          term: "--keytab FILE",
          summary: "a key of this file instead of tickets; it can log in again at any time",
        },
        {
          term: "--principal NAME",
          summary: "whose key or tickets; without it the first ones",
        },
        {
          term: "--sasl-service NAME, --sasl-host HOST",
          summary:
            "the server's principal NAME/HOST; without them zookeeper and the host of the connect " +
            "string, which Kerberos may look up in DNS (dns_canonicalize_hostname in krb5.conf)",
        },
      ],
    },
    {
      text:
        "The variables ZKSH_SASL, ZKSH_SASL_FILE, ZKSH_JAAS, ZKSH_KEYTAB, ZKSH_PRINCIPAL, " +
        "ZKSH_SASL_SERVICE and ZKSH_SASL_HOST say the same. The command line wins over them; two " +
        "of one place that disagree are an error. The command of a lock gets the user and the " +
        "names of files in these variables, never a password.",
    },
    {
      title: "Kerberos",
      text:
        "Kerberos needs the system's MIT library and the package koffi, which is not installed with " +
        "zksh: npm install -g koffi. Each connection takes fresh credentials, so a lock can be " +
        "held for longer than a ticket lives: with a keytab always, with tickets as long as kinit " +
        "or k5start renews the cache. The time that a KDC takes counts against the session; on a " +
        "reconnect a KDC that cannot be reached is waited for while the session can live. A JAAS " +
        "file with useKeyTab=true uses the keytab, also where it has useTicketCache=true.",
    },
    {
      title: "SASL and the scheme digest are not the same",
      text:
        "addauth digest and --auth give an identity digest:USER:HASH, SASL gives sasl:USER. An ACL " +
        "names one or the other: getAcl shows which, whoami shows who this session is, and " +
        "auth::cdrwa stands for all that it is. A session can be both.",
    },
    {
      title: "When the login fails",
      text:
        "The session ends with exit code 4 and the reason: the password is wrong or the user " +
        "unknown, the server does not do SASL, the server went on without the login, or the server " +
        "could not prove that it knows the password. With Kerberos: there are no tickets, the " +
        "ticket has expired, the KDC does not know the server, no KDC can be reached, or the server " +
        "does not accept the ticket; the library's own words stand behind it. A server that requires SASL says so when --sasl " +
        "is missing. A login that fails on a reconnect ends the session too, and stops the command " +
        "of a lock with exit code 120: to go on would be to go on as another user.",
    },
    {
      text:
        "The login costs one round trip per connection, with Kerberos two and those to the KDC. It " +
        "keeps the password off the network, and encrypts nothing: use --tls as well.",
    },
  ],
};
