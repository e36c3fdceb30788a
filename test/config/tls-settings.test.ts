import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { GlobalFlags } from "../../src/config/global-options.ts";
import { javaFlags } from "../../src/config/java-flags.ts";
import { readSettings } from "../../src/config/settings.ts";
import { javaTls } from "../../src/config/tls-settings.ts";

const read = (flags: GlobalFlags = {}, env: Record<string, string> = {}) =>
  readSettings(flags, { env, programName: "zksh" });

describe("the client's certificate and the trusted authorities", () => {
  test.each<{ name: string; flags?: GlobalFlags; env?: Record<string, string>; files: object }>([
    {
      name: "come from stores",
      flags: { "tls-keystore": ["own"], "tls-truststore": ["trust"] },
      files: { keystore: "own", truststore: "trust" },
    },
    {
      name: "come from the variables of stores",
      env: { ZKSH_TLS_KEYSTORE: "own", ZKSH_TLS_KEYSTORE_PASSWORD_FILE: "p" },
      files: { keystore: "own", keystorePassword: "p" },
    },
    {
      name: "of the line replace those of the environment: a store",
      flags: { "tls-keystore": ["own"], "tls-truststore": ["trust"] },
      env: { ZKSH_TLS_CERT: "c", ZKSH_TLS_KEY: "k", ZKSH_TLS_CA: "ca" },
      files: { keystore: "own", truststore: "trust" },
    },
    {
      name: "of the line replace those of the environment: PEM",
      flags: { "tls-cert": ["c"], "tls-key": ["k"], "tls-ca": ["ca"] },
      env: { ZKSH_TLS_KEYSTORE: "own", ZKSH_TLS_TRUSTSTORE: "trust" },
      files: { cert: "c", key: "k", ca: "ca" },
    },
    {
      name: "Kafka's file is the same as zkCli's",
      flags: { "zk-tls-config-file": ["f"] },
      env: { ZKSH_CLIENT_CONFIGURATION: "other" },
      files: { properties: "f" },
    },
  ])("$name", ({ flags, env, files }) => {
    expect(read(flags, env).files).toEqual(files);
  });

  test.each<{ flags?: GlobalFlags; env?: Record<string, string>; message: string }>([
    {
      flags: { "tls-keystore": ["own"], "tls-cert": ["c"], "tls-key": ["k"] },
      message: "--tls-keystore and --tls-cert exclude each other",
    },
    {
      env: { ZKSH_TLS_TRUSTSTORE: "t", ZKSH_TLS_CA: "ca" },
      message: "ZKSH_TLS_TRUSTSTORE and ZKSH_TLS_CA exclude each other",
    },
    {
      flags: { "client-configuration": ["a"], "zk-tls-config-file": ["b"] },
      message: "-client-configuration and -zk-tls-config-file exclude each other",
    },
    {
      flags: { embedded: ["true"], "zk-tls-config-file": ["b"] },
      message: "--embedded cannot be combined with --zk-tls-config-file",
    },
  ])("$message", ({ flags, env, message }) => {
    expect(() => read(flags, env)).toThrow(
      expect.objectContaining({ message, name: "UsageError" }),
    );
  });

  test.each([
    "tls-keystore",
    "tls-truststore",
    "tls-keystore-password-file",
    "tls-truststore-password-file",
    "tls-key-password-file",
  ] as const)("--%s turns TLS on, and disagrees with ZKSH_TLS=0", (name) => {
    expect(read({ [name]: ["f"] }).tls).toMatchObject({ isOn: true, source: `--${name}` });
    expect(() => read({ [name]: ["f"] }, { ZKSH_TLS: "0" })).toThrow(
      `--${name} asks for TLS, and ZKSH_TLS turns it off`,
    );
  });

  test("a zksh under a lock gets them as file names, and nothing that they replaced", () => {
    const flags = { "tls-keystore": ["own"], "tls-keystore-password-file": ["p"] };
    const env = { ZKSH_TLS_CERT: "c", ZKSH_TLS_KEY: "k" };
    expect(read(flags, env).environment).toEqual({
      ZKSH_TLS_KEYSTORE: resolve("own"),
      ZKSH_TLS_KEYSTORE_PASSWORD_FILE: resolve("p"),
      ZKSH_TLS_CERT: "",
      ZKSH_TLS_KEY: "",
    });
    expect(read({ "zk-tls-config-file": ["f"] }).environment).toEqual({
      ZKSH_CLIENT_CONFIGURATION: resolve("f"),
    });
  });
});

describe("the flags of Java clients", () => {
  test("are read with quotes and without", () => {
    expect(javaFlags(`-Xmx1g -Da.b=c "-De" -Df="g h" -Di='j k' -Dl= -Dm`)).toEqual([
      ["a.b", "c"],
      ["f", "g h"],
      ["i", "j k"],
      ["l", ""],
      ["m", ""],
    ]);
  });

  test.each([
    { env: { CLIENT_JVMFLAGS: "-Dzookeeper.client.secure=true" }, variable: "CLIENT_JVMFLAGS" },
    { env: { JVMFLAGS: "-Dzookeeper.client.secure=TRUE -Dx=y" }, variable: "JVMFLAGS" },
    { env: { KAFKA_OPTS: " -Dzookeeper.client.secure=true" }, variable: "KAFKA_OPTS" },
  ])("turn TLS on where they say so: $env", ({ env, variable }) => {
    expect(javaTls(env)).toMatchObject({
      variable,
      properties: [["zookeeper.client.secure", expect.stringMatching(/true/i)]],
    });
  });

  test.each([
    {},
    { JVMFLAGS: "-Dzookeeper.ssl.keyStore.location=/server.jks" },
    { JVMFLAGS: "-Dzookeeper.client.secure=false" },
    { SERVER_JVMFLAGS: "-Dzookeeper.client.secure=true" },
  ])("are no matter otherwise: %j", (env) => {
    expect(javaTls(env)).toBeUndefined();
  });
});
