import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { GlobalFlags } from "../../src/config/global-options.ts";
import { sessionOptions } from "../../src/config/session-options.ts";
import { SettingReader } from "../../src/config/setting-reader.ts";
import { readSettings } from "../../src/config/settings.ts";
import { WriteRules } from "../../src/session/write-rules.ts";

const read = (flags: GlobalFlags = {}, env: Record<string, string> = {}, programName = "zksh") =>
  readSettings(flags, { env, programName });

const DEFAULTS = {
  session: {
    servers: [{ host: "localhost", port: 2181 }],
    chroot: "",
    timeoutMs: 30_000,
    connectTimeoutMs: 10_000,
    refusedTimeoutMs: 1_000,
    maxRequestBytes: 1_048_575,
    readOnly: false,
    auth: [],
  },
  environment: {},
  files: {},
  tls: undefined,
  output: "text",
  color: "auto",
  isEmbedded: false,
  isDefaultServer: true,
  script: undefined,
  scriptFile: undefined,
  keepsGoing: false,
  isYes: false,
  isNoInput: false,
  isQuiet: false,
  isVerbose: false,
  hasPager: true,
  isDebug: false,
  profile: undefined,
  writes: new WriteRules(),
  allowsWrites: false,
  habits: {},
  reader: new SettingReader({}, {}),
};

const sessions: {
  name: string;
  flags?: GlobalFlags;
  env?: Record<string, string>;
  session: object;
}[] = [
  { name: "a flag", flags: { timeout: ["5s"] }, session: { timeoutMs: 5000 } },
  { name: "a variable", env: { ZKSH_TIMEOUT: "5000ms" }, session: { timeoutMs: 5000 } },
  {
    name: "flag over variable",
    flags: { timeout: ["1s"] },
    env: { ZKSH_TIMEOUT: "9s" },
    session: { timeoutMs: 1000 },
  },
  { name: "the last of two flags", flags: { timeout: ["1s", "2s"] }, session: { timeoutMs: 2000 } },
  { name: "an empty variable is none", env: { ZKSH_TIMEOUT: "" }, session: {} },
  {
    name: "servers and chroot",
    env: { ZKSH_SERVER: "a:1,[::1]:2/app" },
    session: {
      servers: [
        { host: "a", port: 1 },
        { host: "::1", port: 2 },
      ],
      chroot: "/app",
    },
  },
  {
    name: "a connect timeout also bounds waiting for a server to come up",
    flags: { "connect-timeout": ["1m"] },
    session: { connectTimeoutMs: 60_000, refusedTimeoutMs: 60_000 },
  },
  {
    name: "-waitforconnection waits for the session timeout",
    flags: { waitforconnection: ["true"], timeout: ["7s"] },
    session: { timeoutMs: 7000, connectTimeoutMs: 7000, refusedTimeoutMs: 7000 },
  },
  {
    name: "read-only from the environment",
    env: { ZKSH_READ_ONLY: "yes" },
    session: { readOnly: true },
  },
  {
    name: "read-only can be turned off again",
    flags: { "read-only": ["false"] },
    env: { ZKSH_READ_ONLY: "1" },
    session: { readOnly: false },
  },
  {
    name: "several identities",
    flags: { auth: ["digest:u:p:q", "ip:"] },
    session: {
      auth: [
        { scheme: "digest", credential: Buffer.from("u:p:q") },
        { scheme: "ip", credential: Buffer.from("") },
      ],
    },
  },
];

const outputs: {
  flags?: GlobalFlags;
  env?: Record<string, string>;
  name?: string;
  output: string;
}[] = [
  { output: "text" },
  { flags: { output: ["json"] }, output: "json" },
  { flags: { json: ["true"] }, output: "json" },
  { flags: { json: ["true"], output: ["zkcli"] }, output: "zkcli" },
  { env: { ZKSH_OUTPUT: "json" }, output: "json" },
  { name: "zkCli.sh", output: "zkcli" },
  { name: "zkcli", output: "zkcli" },
  { name: "zkCli.sh", env: { ZKSH_OUTPUT: "json" }, output: "zkcli" },
  { name: "zkCli.sh", flags: { output: ["text"] }, output: "text" },
];

const errors: {
  flags?: GlobalFlags;
  env?: Record<string, string>;
  message: string;
  hint?: string;
}[] = [
  {
    flags: { timeout: ["x"] },
    message: "bad duration 'x' for --timeout",
    hint: "use for example 1500ms, 10s, 5m or 1h",
  },
  {
    env: { ZKSH_TIMEOUT: "x" },
    message: "bad duration 'x' for ZKSH_TIMEOUT",
    hint: "use for example 1500ms, 10s, 5m or 1h",
  },
  {
    flags: { timeout: ["5000"] },
    message: "--timeout: duration '5000' needs a unit: 5000s or 5000ms",
  },
  { env: { ZKSH_TIMEOUT: "30" }, message: "ZKSH_TIMEOUT: duration '30' needs a unit: 30s or 30ms" },
  {
    flags: { "connect-timeout": ["5"] },
    message: "--connect-timeout: duration '5' needs a unit: 5s or 5ms",
  },
  {
    flags: { timeout: ["0"] },
    message: "bad duration '0' for --timeout",
    hint: "more than 0, less than 25 days",
  },
  {
    flags: { timeout: ["600h"] },
    message: "bad duration '600h' for --timeout",
    hint: "more than 0, less than 25 days",
  },
  {
    flags: { output: ["xml"] },
    message: "bad value 'xml' for --output",
    hint: "use one of text, json, zkcli",
  },
  {
    flags: { color: ["red"] },
    message: "bad value 'red' for --color",
    hint: "use one of auto, always, never",
  },
  {
    env: { ZKSH_READ_ONLY: "maybe" },
    message: "bad value 'maybe' for ZKSH_READ_ONLY",
    hint: "use 1 or 0",
  },
  {
    flags: { waitforconnection: ["x"] },
    message: "bad value 'x' for -waitforconnection",
    hint: "use 1 or 0",
  },
  { flags: { server: ["h:x"] }, message: "bad port 'x' in server list: 'h:x'" },
  {
    flags: { auth: ["secret"] },
    message: "no scheme in --auth",
    hint: "use SCHEME:CREDENTIAL, for example digest:USER:PASSWORD",
  },
  { flags: { "tls-cert": ["c"] }, message: "--tls-cert and --tls-key must be given together" },
  { flags: { "tls-key": ["k"] }, message: "--tls-cert and --tls-key must be given together" },
];

const tls: {
  name: string;
  flags?: GlobalFlags;
  env?: Record<string, string>;
  tls: object | undefined;
}[] = [
  { name: "off", tls: undefined },
  { name: "on", flags: { tls: ["true"] }, tls: {} },
  { name: "implied by a CA", env: { ZKSH_TLS_CA: "ca" }, tls: { ca: Buffer.from("CA") } },
  {
    name: "turned off, by a line and its environment",
    env: { ZKSH_TLS: "0" },
    flags: { tls: ["0"] },
    tls: undefined,
  },
  {
    name: "not for a socket",
    env: { ZKSH_TLS_CA: "nope" },
    flags: { server: ["unix:/s"] },
    tls: undefined,
  },
  {
    name: "from zkCli's properties in the environment",
    env: { ZKSH_CLIENT_CONFIGURATION: "properties" },
    tls: { ca: expect.any(Buffer) },
  },
  {
    name: "everything",
    flags: {
      "tls-ca": ["ca"],
      "tls-cert": ["cert"],
      "tls-key": ["key"],
      "tls-servername": ["n"],
      "tls-insecure": ["true"],
    },
    tls: {
      ca: Buffer.from("CA"),
      cert: Buffer.from("CERT"),
      key: Buffer.from("KEY"),
      servername: "n",
      insecure: true,
    },
  },
  {
    name: "from zkCli's properties",
    flags: { "client-configuration": ["properties"] },
    tls: { ca: expect.any(Buffer) },
  },
  {
    name: "our own options over zkCli's properties",
    flags: { "client-configuration": ["properties"], "tls-servername": ["n"] },
    tls: { ca: expect.any(Buffer), servername: "n" },
  },
];

const CA_PEM = readFileSync(join(import.meta.dirname, "../fixtures/stores/ca.pem"), "utf8");
const files: Record<string, string> = {
  ca: "CA",
  "ca.pem": CA_PEM,
  cert: "CERT",
  key: "KEY",
  auth: "# who we are\ndigest:u:p\r\n\nip:\n",
  "bad-auth": "digest:u:p\nsecret\n",
  plain: "zookeeper.client.secure=false\n",
  properties: "zookeeper.client.secure=true\nzookeeper.ssl.trustStore.location=ca.pem\n",
};
const readFile = async (path: string) => {
  const text = files[path];
  if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
  return Buffer.from(text);
};
const askPassword = async () => {
  throw new Error("nothing here needs a password that is typed");
};
const sources = { readFile, askPassword };
const reading = (text: (path: string) => string) => ({
  readFile: async (path: string) => Buffer.from(text(path)),
  askPassword,
});

describe("readSettings", () => {
  test("has a default for everything", () => {
    expect(read()).toEqual(DEFAULTS);
  });

  test("what programs that are run are told: how to connect, with whole file names, and no credential", () => {
    const flags = {
      timeout: ["5s"],
      tls: ["true"],
      "tls-key": ["key.pem"],
      auth: ["a:b"],
      "auth-file": ["f"],
      yes: ["1"],
    };
    const given = { ZKSH_TIMEOUT: "5s", ZKSH_TLS: "true", ZKSH_TLS_KEY: resolve("key.pem") };
    expect(
      read({ ...flags, "tls-cert": ["/c"] }, { ZKSH_CONNECT_TIMEOUT: "9s" }).environment,
    ).toEqual({
      ...given,
      ZKSH_TLS_CERT: "/c",
    });
    expect(read({ embedded: ["true"] }, { ZKSH_TLS: "1" }).environment).toEqual({});
    expect(read({ "client-configuration": ["client.cfg"] }).environment).toEqual({
      ZKSH_CLIENT_CONFIGURATION: resolve("client.cfg"),
    });
  });

  test.each(sessions)("session: $name", ({ flags, env, session }) => {
    expect(read(flags, env).session).toEqual({ ...DEFAULTS.session, ...session });
  });

  test.each(outputs)("output: $name $flags $env gives $output", ({ flags, env, name, output }) => {
    expect(read(flags, env, name).output).toBe(output);
  });

  test.each(errors)("refuses: $message", ({ flags, env, message, hint }) => {
    expect(() => read(flags, env)).toThrow(
      expect.objectContaining({ message, hint, name: "UsageError" }),
    );
  });
});

describe("sessionOptions", () => {
  test.each(tls)("TLS $name", async ({ flags, env, tls: wanted }) => {
    const options = await sessionOptions(read(flags, env), sources);
    expect(options.tls).toEqual(wanted);
  });

  test.each<{ flags?: GlobalFlags; env?: Record<string, string>; message: string }>([
    {
      flags: { "tls-ca": ["ca"] },
      env: { ZKSH_TLS: "0" },
      message: "--tls-ca asks for TLS, and ZKSH_TLS turns it off",
    },
    {
      flags: { tls: ["true"] },
      env: { ZKSH_TLS: "0" },
      message: "--tls asks for TLS, and ZKSH_TLS turns it off",
    },
    {
      flags: { tls: ["0"] },
      env: { ZKSH_TLS: "1" },
      message: "ZKSH_TLS asks for TLS, and --tls turns it off",
    },
    {
      flags: { tls: ["0"] },
      env: { ZKSH_TLS_CA: "ca" },
      message: "ZKSH_TLS_CA asks for TLS, and --tls turns it off",
    },
    { flags: { tls: ["true", "false"] }, message: "--tls asks for TLS, and --tls turns it off" },
    {
      env: { ZKSH_TLS_INSECURE: "1", ZKSH_TLS: "no" },
      message: "ZKSH_TLS_INSECURE asks for TLS, and ZKSH_TLS turns it off",
    },
    {
      flags: { "client-configuration": ["properties"] },
      env: { ZKSH_TLS: "0" },
      message: "zookeeper.client.secure in properties asks for TLS, and ZKSH_TLS turns it off",
    },
    {
      flags: { "client-configuration": ["plain"], "tls-servername": ["n"] },
      message: "--tls-servername asks for TLS, and zookeeper.client.secure in plain turns it off",
    },
  ])("refuses: $message", async ({ flags, env, message }) => {
    const options = async () => sessionOptions(read(flags, env), sources);
    await expect(options()).rejects.toThrow(
      expect.objectContaining({ message, name: "UsageError" }),
    );
  });

  test.each([
    ["s3cret\n", "s3cret"],
    ["123456789abcdef", "123456789abcdef"],
    ["pass word \r\nsecond line", "pass word "],
  ])("the Keeper password is the first line of its file: %j", async (contents, password) => {
    const given = read({ "keeper-password-file": ["p"] }, { ZKSH_KEEPER_PASSWORD_FILE: "q" });
    const options = await sessionOptions(
      given,
      reading((path) => path + contents),
    );
    expect(options.keeperPassword?.toString()).toBe(`p${password}`);
  });

  test.each([
    ["", "no password in the file of --keeper-password-file"],
    [
      "0123456789abcdefg",
      "the password in the file of --keeper-password-file has 17 bytes; ClickHouse Keeper takes at most 16",
    ],
  ])("a Keeper password is refused: %j", async (contents, message) => {
    const given = read({}, { ZKSH_KEEPER_PASSWORD_FILE: "q" });
    const options = sessionOptions(
      given,
      reading(() => contents),
    );
    await expect(options).rejects.toThrow(expect.objectContaining({ message, name: "UsageError" }));
    const toSocket = await sessionOptions(
      given,
      reading(() => "x"),
      "unix:/s",
    );
    expect(toSocket.keeperPassword).toBeUndefined();
  });

  test("the servers of connect are asked with the same TLS", async () => {
    const config = read({ embedded: ["true"] }, { ZKSH_TLS_CA: "ca" });
    expect((await sessionOptions(config, sources, "unix:/s")).tls).toBeUndefined();
    expect(await sessionOptions(config, sources, "zk:1/app")).toMatchObject({
      servers: [{ host: "zk", port: 1 }],
      chroot: "/app",
      tls: { ca: Buffer.from("CA") },
    });
  });

  test("identities of the file come before those of the line", async () => {
    const { auth } = await sessionOptions(
      read({ auth: ["x:y"] }, { ZKSH_AUTH_FILE: "auth" }),
      sources,
    );
    expect(auth).toEqual([
      { scheme: "digest", credential: Buffer.from("u:p") },
      { scheme: "ip", credential: Buffer.from("") },
      { scheme: "x", credential: Buffer.from("y") },
    ]);
  });

  test.each([
    {
      flags: { "auth-file": ["nope"] },
      message: "cannot read nope (--auth-file): no such file",
    },
    { flags: { "auth-file": ["bad-auth"] }, message: "no scheme in line 2 of --auth-file" },
    {
      flags: { "tls-ca": ["nope"] },
      message: "cannot read nope (--tls-ca): no such file",
    },
  ])("refuses: $message", async ({ flags, message }) => {
    await expect(sessionOptions(read(flags), sources)).rejects.toThrow(
      expect.objectContaining({ message, name: "UsageError" }),
    );
  });
});

test.each([
  { flags: { command: ["get /a", "get /b"] }, option: "-c" },
  { flags: { file: ["a.zk", "b.zk"] }, option: "-f" },
])("$option twice: neither is quietly left out", ({ flags, option }) => {
  expect(() => readSettings(flags, { env: {}, programName: "zksh" })).toThrow(
    `${option} was given twice`,
  );
});
