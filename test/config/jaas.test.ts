import { expect, test } from "vitest";
import { jaasUser } from "../../src/config/jaas.ts";

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
  expect(jaasUser(text, "f", "Client")).toEqual(user);
});

test("reads the section that is named", () => {
  const text = `A { ${MODULE} required username="a" password="1"; }; B { ${MODULE} required username="b" password="2"; };`;
  expect(jaasUser(text, "f", "B")).toEqual({ username: "b", password: "2" });
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
    name: "Kerberos",
    text: 'Client { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/k" principal="a@B"; };',
    message:
      "section Client of f logs in by Kerberos (Krb5LoginModule): zksh has no GSSAPI, which that needs",
    hint: "zksh logs in by DIGEST-MD5: --sasl digest:USER, or a DigestLoginModule",
  },
  {
    name: "another module",
    text: "Client { org.x.PlainLoginModule required username=a; };",
    message: "section Client of f has no DigestLoginModule, but org.x.PlainLoginModule",
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
  expect(() => jaasUser(text, "f", "Client")).toThrow(
    expect.objectContaining({ name: "UsageError", message, ...(hint && { hint }) }),
  );
});
