import type { Topic } from "./help-topics.ts";

/** `help sasl`. */
export const saslTopic: Topic = {
  name: "sasl",
  summary: "log in to servers of Kafka, HBase and others by SASL DIGEST-MD5",
  sections: () => [
    {
      title: "Examples",
      rows: [
        { term: "zksh --sasl digest:bob", summary: "asks for the password of bob" },
        { term: "zksh --sasl-file ~/.zk-bob ls /", summary: "reads user and password from it" },
        { term: "zksh --jaas client.jaas ls /brokers", summary: "logs in as a Java client does" },
        { term: "zksh --jaas client.jaas#Admin whoami", summary: "takes the section Admin" },
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
            "the user of a DigestLoginModule in a Java login configuration; the section is Client " +
            "unless another one is named",
        },
      ],
    },
    {
      text:
        "The variables ZKSH_SASL, ZKSH_SASL_FILE and ZKSH_JAAS say the same. The command line wins " +
        "over them; two of one place that disagree are an error. The command of a lock gets the " +
        "user and the names of files in these variables, never a password.",
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
        "could not prove that it knows the password. A server that requires SASL says so when --sasl " +
        "is missing. A login that fails on a reconnect ends the session too, and stops the command " +
        "of a lock with exit code 120: to go on would be to go on as another user.",
    },
    {
      text:
        "The login costs one round trip per connection. It keeps the password off the network, and " +
        "encrypts nothing: use --tls as well. Kerberos (GSSAPI) is not supported.",
    },
  ],
};
