import type { Topic } from "./help-topics.ts";

/** `help tls`. */
export const tlsTopic: Topic = {
  name: "tls",
  summary: "connect with TLS: certificates, key stores and the files of Java clients",
  sections: () => [
    {
      title: "Examples",
      rows: [
        { term: "zksh -s zk1:2182 --tls-ca ca.pem", summary: "trusts this CA" },
        {
          term: "zksh --tls-truststore t.jks --tls-keystore c.p12",
          summary: "presents a certificate",
        },
        { term: "zksh -client-configuration c.properties", summary: "reads zkCli's file" },
        { term: "zksh -zk-tls-config-file k.properties", summary: "reads Kafka's file" },
      ],
    },
    {
      title: "Whom the session trusts",
      rows: [
        { term: "--tls-ca FILE", summary: "certificates of CAs in PEM" },
        {
          term: "--tls-truststore FILE",
          summary: "the trusted certificates of a store, instead of --tls-ca",
        },
        { term: "--tls-servername NAME", summary: "the name that the certificate must have" },
        { term: "--tls-insecure", summary: "accepts every certificate: for tests only" },
      ],
    },
    {
      title: "Who the session is",
      rows: [
        { term: "--tls-keystore FILE", summary: "certificate and key in a store" },
        { term: "--tls-cert FILE --tls-key FILE", summary: "the same as two files in PEM" },
      ],
    },
    {
      text:
        "Servers with clientAuth=need ask every client for a certificate. Its subject is an identity " +
        "for ACLs, x509:CN=…: whoami shows it.",
    },
    {
      title: "Stores and passwords",
      text:
        "A store is a PEM file with certificates and perhaps a key, a PKCS12 file or a JKS file; its " +
        "contents tell which, not its name. Passwords are never given on the command line: they are " +
        "in a file of one line that only you can read (--tls-keystore-password-file, " +
        "--tls-truststore-password-file, --tls-key-password-file for an encrypted PEM key and for a " +
        "key with a password of its own), in the properties, or are asked for on a terminal. For " +
        "other stores the error names the keytool line that converts them.",
    },
    {
      title: "Properties of Java clients",
      text:
        "zookeeper.client.secure, zookeeper.ssl.keyStore and .trustStore (location, password, " +
        "passwordPath, type), hostnameVerification, enabledProtocols, protocol and ciphersuites are " +
        "honoured, also in Kafka's spelling. Any other property of the file is named on stderr. File " +
        "names are relative to the working directory, as in Java. The same properties count as " +
        "-Dname=value in CLIENT_JVMFLAGS, JVMFLAGS and KAFKA_OPTS if they turn TLS on. Options win " +
        "over the file, and the file over these variables.",
    },
    {
      title: "Never off by mistake",
      text:
        "Any option, variable or property that asks for TLS turns it on, also --tls-ca or a store " +
        "alone. If another one turns it off, or if two of one place name different certificates, " +
        "zksh ends with exit code 2 (125 for locks). A file or a password that cannot be used is 2 " +
        "too, a handshake that one side refuses is 6.",
    },
    {
      text:
        "The command of a lock gets all of this in variables (ZKSH_TLS_KEYSTORE, " +
        "ZKSH_TLS_KEYSTORE_PASSWORD_FILE …): names of files, never passwords.",
    },
  ],
};
