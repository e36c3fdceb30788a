import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readSettings } from "../../src/config/settings.ts";
import { type RunOptions, run } from "../commands/run.ts";

const given = { "/a": "x" };
const files = {
  secret: "bobsecret\n",
  whole: "digest:bob:bob:secret\r\n",
  lines: "one\ntwo\n",
  empty: "\n",
  "c.jaas": 'Client { DigestLoginModule required username="ann" password="p"; };',
  "k.jaas":
    'Client { Krb5LoginModule required useKeyTab=true keyTab="secret" principal="ann@A"; };',
  "long.jaas": "x".repeat(65_537),
};
const bob = { mechanism: "DIGEST-MD5", username: "bob", password: "bobsecret" };
const ann = { mechanism: "DIGEST-MD5", username: "ann", password: "p" };

const get = (words: readonly string[], options: RunOptions = {}) =>
  run([...words, "get", "/a"], { given, files, ...options });

describe("a session logs in", () => {
  test.each<{ name: string; words?: string[]; env?: Record<string, string>; sasl: unknown }>([
    { name: "not, without a setting", sasl: undefined },
    { name: "with --sasl", words: ["--sasl", "digest:bob:bobsecret"], sasl: bob },
    {
      name: "with a password that has colons",
      words: ["--sasl", "digest:bob:a:b:"],
      sasl: { ...bob, password: "a:b:" },
    },
    {
      name: "with a password in a file",
      words: ["--sasl", "digest:bob", "--sasl-file", "secret"],
      sasl: bob,
    },
    {
      name: "with all in a file",
      words: ["--sasl-file", "whole"],
      sasl: { ...bob, password: "bob:secret" },
    },
    {
      name: "with the same user in both",
      words: ["--sasl", "digest:bob", "--sasl-file", "whole"],
      sasl: { ...bob, password: "bob:secret" },
    },
    { name: "with --jaas", words: ["--jaas", "c.jaas"], sasl: ann },
    { name: "with a section", words: ["--jaas", "c.jaas#Client"], sasl: ann },
    { name: "with ZKSH_SASL", env: { ZKSH_SASL: "digest:bob:bobsecret" }, sasl: bob },
    {
      name: "with ZKSH_SASL and ZKSH_SASL_FILE",
      env: { ZKSH_SASL: "digest:bob", ZKSH_SASL_FILE: "secret" },
      sasl: bob,
    },
    { name: "with ZKSH_JAAS", env: { ZKSH_JAAS: "c.jaas" }, sasl: ann },
    {
      name: "as the command line says, not as the environment",
      words: ["--sasl", "digest:bob:bobsecret"],
      env: { ZKSH_JAAS: "c.jaas" },
      sasl: bob,
    },
    {
      name: "with --jaas, whatever the environment says",
      words: ["--jaas", "c.jaas"],
      env: { ZKSH_SASL: "digest:eve", ZKSH_SASL_FILE: "none" },
      sasl: ann,
    },
    {
      name: "with the password of the line instead of the environment's file",
      words: ["--sasl", "digest:bob:bobsecret"],
      env: { ZKSH_SASL_FILE: "none" },
      sasl: bob,
    },
    { name: "by Kerberos", words: ["--sasl", "gssapi"], sasl: { mechanism: "GSSAPI" } },
    {
      name: "by Kerberos with a keytab, at a server of another name",
      words: [
        ..."--sasl GSSAPI --keytab secret --principal ann@A".split(" "),
        ..."--sasl-service zk --sasl-host h".split(" "),
      ],
      sasl: {
        mechanism: "GSSAPI",
        keytab: resolve("secret"),
        principal: "ann@A",
        service: "zk",
        host: "h",
      },
    },
    {
      name: "by Kerberos, as variables say it",
      env: {
        ZKSH_SASL: "gssapi",
        ZKSH_KEYTAB: "secret",
        ZKSH_PRINCIPAL: "ann",
        ZKSH_SASL_SERVICE: "zk",
        ZKSH_SASL_HOST: "h",
      },
      sasl: {
        mechanism: "GSSAPI",
        keytab: resolve("secret"),
        principal: "ann",
        service: "zk",
        host: "h",
      },
    },
    {
      name: "with a password, whatever variables of Kerberos are there",
      words: ["--sasl", "digest:bob:bobsecret"],
      env: { ZKSH_SASL: "gssapi", ZKSH_KEYTAB: "none", ZKSH_PRINCIPAL: "ann" },
      sasl: bob,
    },
    {
      name: "by the Kerberos of a JAAS file, at a server of another name",
      words: ["--jaas", "k.jaas", "--sasl-host", "h"],
      sasl: { mechanism: "GSSAPI", keytab: resolve("secret"), principal: "ann@A", host: "h" },
    },
    {
      name: "not to a socket in the file system",
      words: ["-s", "unix:/s"],
      env: { ZKSH_SASL: "digest:bob" },
      sasl: undefined,
    },
  ])("$name", async ({ words = [], env = {}, sasl }) => {
    const { opened, exit } = await get(words, { env });
    expect([opened.length, opened[0]?.sasl, exit]).toEqual([1, sasl, 0]);
  });
});

describe("is a mistake", () => {
  test.each<{ words: string[]; env?: Record<string, string>; stderr: string; exit?: number }>([
    {
      words: ["--sasl", "hunter2"],
      stderr:
        "error: no mechanism in --sasl\n  use digest:USER, for example --sasl digest:bob, and --sasl-file FILE; or gssapi for Kerberos\n",
    },
    {
      words: ["--sasl", "digest::x"],
      stderr:
        "error: no user in --sasl\n  use digest:USER, for example --sasl digest:bob, and --sasl-file FILE; or gssapi for Kerberos\n",
    },
    {
      words: ["--sasl", "gssapi:ann"],
      stderr:
        "error: --sasl has more than gssapi\n  use --sasl gssapi, with --keytab FILE and --principal NAME where needed\n",
    },
    {
      words: ["--sasl", "gssapi", "--sasl-file", "secret"],
      stderr:
        "error: --sasl-file is for DIGEST-MD5, and --sasl asks for Kerberos\n  remove one of them; Kerberos takes --keytab FILE\n",
    },
    {
      words: ["--keytab", "secret"],
      stderr: "error: --keytab is for Kerberos\n  add --sasl gssapi\n",
    },
    {
      words: ["--sasl", "digest:bob:x", "--sasl-host", "h"],
      stderr: "error: --sasl-host is for Kerberos\n  remove it, or log in with --sasl gssapi\n",
    },
    {
      words: ["--jaas", "c.jaas", "--principal", "ann"],
      stderr: "error: --principal and --jaas both say who logs in\n  remove one of them\n",
    },
    {
      words: ["--sasl", "gssapi", "--keytab", "none"],
      stderr: "error: cannot read none (--keytab): no such file\n",
    },
    {
      words: ["--sasl", "gssapi", "--sasl-service", "zk/h"],
      stderr: "error: bad value 'zk/h' for --sasl-service\n",
    },
    {
      words: ["--embedded", "--keytab", "secret"],
      stderr: "error: --embedded cannot be combined with --keytab\n",
    },
    {
      words: ["--sasl", "digest:bob", "--jaas", "c.jaas"],
      stderr: "error: --sasl and --jaas both say who logs in\n  remove one of them\n",
    },
    {
      words: ["--sasl-file", "whole", "--jaas", "c.jaas"],
      stderr: "error: --sasl-file and --jaas both say who logs in\n  remove one of them\n",
    },
    {
      words: [],
      env: { ZKSH_SASL: "digest:bob", ZKSH_JAAS: "c.jaas" },
      stderr: "error: ZKSH_SASL and ZKSH_JAAS both say who logs in\n  remove one of them\n",
    },
    {
      words: ["--sasl", "digest:bob", "--sasl", "digest:ann"],
      stderr: "error: --sasl was given twice\n  remove one of them\n",
    },
    {
      words: ["--sasl", "digest:bob:x", "--sasl-file", "secret"],
      stderr: "error: --sasl and --sasl-file both give a password\n  remove one of them\n",
    },
    {
      words: ["--sasl", "digest:ann", "--sasl-file", "whole"],
      stderr: "error: whole (--sasl-file) has the password of bob, not of ann\n",
    },
    {
      words: ["--sasl-file", "secret"],
      stderr:
        "error: no user in secret (--sasl-file)\n  give the user with --sasl digest:USER, or write digest:USER:PASSWORD in the file\n",
    },
    {
      words: ["--sasl", "digest:bob", "--sasl-file", "lines"],
      stderr: "error: more than one line in lines (--sasl-file)\n",
    },
    {
      words: ["--sasl", "digest:bob", "--sasl-file", "empty"],
      stderr: "error: no password in empty (--sasl-file)\n",
    },
    {
      words: ["--sasl", "digest:bob", "--sasl-file", "none"],
      stderr: "error: cannot read none (--sasl-file): no such file\n",
    },
    {
      words: ["--jaas", "long.jaas"],
      stderr: "error: long.jaas (--jaas) is longer than 64 KB\n",
    },
    {
      words: ["--embedded", "--sasl", "digest:bob"],
      stderr: "error: --embedded cannot be combined with --sasl\n",
    },
    {
      words: ["--sasl", "digest:bob"],
      stderr: "error: no terminal to ask for bob's password; use --sasl-file FILE\n",
      exit: 9,
    },
    {
      words: ["--no-input", "--sasl", "digest:bob"],
      stderr: "error: --no-input forbids asking for bob's password; use --sasl-file FILE\n",
      exit: 9,
    },
  ])("$words $env", async ({ words, env = {}, stderr, exit = 2 }) => {
    const ran = await get(words, { env });
    expect([ran.stderr, ran.exit, ran.opened.length]).toEqual([stderr, exit, 0]);
  });
});

describe("is warned of", () => {
  test("a password on the command line, which other users can see", async () => {
    const { stderr } = await get(["--sasl", "digest:bob:bobsecret"]);
    expect(stderr).toBe(
      "warning: other users can see the password in --sasl in the list of processes; use --sasl-file FILE instead\n",
    );
    expect((await get([], { env: { ZKSH_SASL: "digest:bob:x" } })).stderr).toBe("");
  });

  test.each([
    ["--sasl-file", "whole"],
    ["--jaas", "c.jaas"],
    ["--keytab", "secret"],
  ])("%s %s, when other users can read it", async (option, file) => {
    const more = option === "--keytab" ? ["--sasl", "gssapi"] : [];
    const { stderr } = await get([...more, option, file], { isReadableByOthers: async () => true });
    expect(stderr).toBe(
      `warning: other users can read ${file} (${option}): run chmod 600 ${file}\n`,
    );
  });
});

/** Empty variables are as none: they take away what the environment has. */
const NONE = {
  ZKSH_SASL: "",
  ZKSH_SASL_FILE: "",
  ZKSH_JAAS: "",
  ZKSH_SASL_SERVICE: "",
  ZKSH_SASL_HOST: "",
  ZKSH_KEYTAB: "",
  ZKSH_PRINCIPAL: "",
};

test.each([
  [{}, {}, {}],
  [{ sasl: ["digest:bob:pw"] }, {}, { ...NONE, ZKSH_SASL: "digest:bob" }],
  [{}, { ZKSH_SASL: "digest:bob:pw" }, { ...NONE, ZKSH_SASL: "digest:bob" }],
  [
    { sasl: ["digest:bob"], "sasl-file": ["f"] },
    { ZKSH_JAAS: "j" },
    { ...NONE, ZKSH_SASL: "digest:bob", ZKSH_SASL_FILE: resolve("f") },
  ],
  [
    { jaas: ["j#Admin"], "sasl-host": ["h"] },
    { ZKSH_SASL: "digest:bob:pw" },
    { ...NONE, ZKSH_JAAS: `${resolve("j")}#Admin`, ZKSH_SASL_HOST: "h" },
  ],
  [{ sasl: ["gssapi"] }, {}, { ...NONE, ZKSH_SASL: "gssapi" }],
  [
    { sasl: ["gssapi"], keytab: ["k"] },
    { ZKSH_PRINCIPAL: "ann", ZKSH_SASL_SERVICE: "zk" },
    {
      ...NONE,
      ZKSH_SASL: "gssapi",
      ZKSH_KEYTAB: resolve("k"),
      ZKSH_PRINCIPAL: "ann",
      ZKSH_SASL_SERVICE: "zk",
    },
  ],
])(
  "programs get who logs in and the names of files of %j %j, and no password",
  (flags, env, passed) => {
    expect(readSettings(flags, { env, programName: "zksh" }).environment).toEqual(passed);
  },
);

describe("hints", () => {
  test("addauth sasl says what to use instead", async () => {
    const { stderr, exit } = await run(["addauth", "sasl", "bob:pw"]);
    expect([stderr, exit]).toEqual([
      "error: addauth cannot log in by SASL\n  start zksh with --sasl digest:USER, --sasl gssapi or --jaas FILE\n",
      2,
    ]);
  });
});
