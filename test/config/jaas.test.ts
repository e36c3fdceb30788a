import { expect, test } from "vitest";
import { jaasLogin } from "../../src/config/jaas.ts";

const MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";
const SECTION_HINT =
  'a section is Client { …DigestLoginModule required username="…" password="…"; };';

test.each([
  {
    name: "one section",
    text: `Client { ${MODULE} required username="bob" password="secret"; };`,
    user: { username: "bob", password: "secret" },
  },
  {
    name: "several lines, comments, and other sections",
    text: `// of the servers\nServer { ${MODULE} required user_bob="x"; };\n/* of\nclients */\nClient {\n  ${MODULE} required\n  username="bob" // who\n  password="s ecret";\n};\n`,
    user: { username: "bob", password: "s ecret" },
  },
  {
    name: "words without quotes, and no package",
    text: "Client{DigestLoginModule required username=bob password=secret;};",
    user: { username: "bob", password: "secret" },
  },
  {
    name: "escapes and symbols in quotes",
    text: `Client { ${MODULE} required username="b\\"o;b" password="a\\\\b{}=\\101//"; };`,
    user: { username: 'b"o;b', password: "a\\b{}=A//" },
  },
  {
    name: "letters that are not ASCII",
    text: `Client { ${MODULE} required username="日本" password="秘密"; };`,
    user: { username: "日本", password: "秘密" },
  },
  {
    name: "Kerberos beside it",
    text: `Client { com.sun.security.auth.module.Krb5LoginModule optional useTicketCache=true; ${MODULE} required username="bob" password=""; };`,
    user: { username: "bob", password: "" },
  },
])("reads $name", ({ text, user }) => {
  expect(jaasLogin(text, "f", "Client")).toEqual({ mechanism: "DIGEST-MD5", ...user });
});

test("reads the section that is named", () => {
  const text = `A { ${MODULE} required username="a" password="1"; }; B { ${MODULE} required username="b" password="2"; };`;
  expect(jaasLogin(text, "f", "B")).toEqual({
    mechanism: "DIGEST-MD5",
    username: "b",
    password: "2",
  });
});

const KERBEROS = "com.sun.security.auth.module.Krb5LoginModule";

test.each([
  {
    options:
      'useKeyTab=true storeKey=true keyTab="/etc/zk.keytab" principal="a/h@B" doNotPrompt=true',
    login: { keytab: "/etc/zk.keytab", principal: "a/h@B" },
  },
  { options: "useTicketCache=true", login: {} },
  {
    options: 'useTicketCache=TRUE ticketCache="/tmp/cc" principal="a@B" renewTGT=true',
    login: { ticketCache: "/tmp/cc", principal: "a@B" },
  },
  {
    options: 'useKeyTab=true useTicketCache=true keyTab="FILE:/k"',
    login: { keytab: "/k" },
  },
  { options: 'useKeyTab=false keyTab="/k" useTicketCache=true', login: {} },
])("reads a Krb5LoginModule with $options", ({ options, login }) => {
  expect(jaasLogin(`Client { ${KERBEROS} required ${options}; };`, "f", "Client")).toEqual({
    mechanism: "GSSAPI",
    ...login,
  });
});

test.each([
  { name: "an empty file", text: "", message: "f has no section Client", hint: SECTION_HINT },
  {
    name: "other sections",
    text: "KafkaClient { x required; }; Server { x required; };",
    message: "f has no section Client",
    hint: "it has KafkaClient, Server: name one with --jaas f#KafkaClient",
  },
  {
    name: "Kerberos without a keytab",
    text: `Client { ${KERBEROS} required useKeyTab=true; };`,
    message: "no keyTab in section Client of f",
  },
  {
    name: "Kerberos with a password",
    text: `Client { ${KERBEROS} required principal="a@B"; };`,
    message: "section Client of f uses neither a keytab nor the ticket cache",
    hint: 'add useTicketCache=true, or useKeyTab=true keyTab="FILE"',
  },
  {
    name: "an option of Kerberos that it does not know",
    text: `Client { ${KERBEROS} required useTicketCache=true isInitiator=false; };`,
    message: "zksh does not know the option isInitiator of section Client of f",
    hint: "remove it, or log in with --sasl gssapi",
  },
  {
    name: "another module",
    text: "Client { org.x.PlainLoginModule required username=a; };",
    message:
      "section Client of f has no DigestLoginModule and no Krb5LoginModule, but org.x.PlainLoginModule",
  },
  {
    name: "no username",
    text: `Client { ${MODULE} required password="secret"; };`,
    message: "no username in section Client of f",
  },
  {
    name: "no password",
    text: `Client { ${MODULE} required username="bob"; };`,
    message: "no password in section Client of f",
  },
  {
    name: "no semicolon",
    text: `Client {\n ${MODULE} required username="bob" password="secret"\n};`,
    message: "line 3 of f is not JAAS",
    hint: SECTION_HINT,
  },
  {
    name: "an open quote",
    text: `Client {\n ${MODULE} required password="secret;\n};`,
    message: "line 2 of f is not JAAS",
  },
  {
    name: "an end in the middle",
    text: "Client {\n",
    message: "line 2 of f is not JAAS",
    hint: SECTION_HINT,
  },
  {
    name: "the same section twice",
    text: "A { x required; };\nA { x required; };",
    message: "a second section A in line 2 of f",
  },
])("refuses $name, and repeats no value", ({ text, message, hint }) => {
  expect(() => jaasLogin(text, "f", "Client")).toThrow(
    expect.objectContaining({ name: "UsageError", message, ...(hint && { hint }) }),
  );
});
