import { describe, expect, test } from "vitest";
import { describeSettings } from "../../src/config/describe-settings.ts";
import { readSettingsFile } from "../../src/config/file/read-settings-file.ts";
import { type GlobalFlags, globalOptions } from "../../src/config/global-options.ts";
import { readSettings } from "../../src/config/settings.ts";
import { settingsElsewhere } from "../../src/config/settings-elsewhere.ts";

const fileOf = (settings: object) =>
  readSettingsFile({ text: JSON.stringify(settings), path: "/c/config.json", home: "/h" });

/** The value of a setting, and where it comes from. */
function setting(name: string, flags: GlobalFlags, env: Record<string, string>, settings: object) {
  const file = fileOf(settings);
  const read = readSettings(flags, { env, programName: "zksh", file });
  const rows = describeSettings(read, file, env);
  const { value, origin } = rows.find((row) => row.name === name) ?? {};
  return [value, origin];
}

/** Five values of each setting, from the place that wins to the default. */
const TABLE = [
  { name: "server", key: "server", env: "ZKSH_SERVER", of: (n: number) => `h${n}:1` },
  { name: "timeout", key: "timeout", env: "ZKSH_TIMEOUT", of: (n: number) => `${n}s` },
  {
    name: "connect-timeout",
    key: "connectTimeout",
    env: "ZKSH_CONNECT_TIMEOUT",
    of: (n: number) => `${n}s`,
  },
  { name: "max-reply", key: "maxReply", env: "ZKSH_MAX_REPLY", of: (n: number) => `${n}m` },
  { name: "auth-file", key: "authFile", env: "ZKSH_AUTH_FILE", of: (n: number) => `/f${n}` },
  { name: "sasl", key: "sasl", env: "ZKSH_SASL", of: (n: number) => `digest:u${n}` },
  { name: "sasl-file", key: "saslFile", env: "ZKSH_SASL_FILE", of: (n: number) => `/s${n}` },
  { name: "jaas", key: "jaas", env: "ZKSH_JAAS", of: (n: number) => `/j${n}` },
  { name: "tls-ca", key: "tlsCa", env: "ZKSH_TLS_CA", of: (n: number) => `/ca${n}` },
  {
    name: "tls-servername",
    key: "tlsServername",
    env: "ZKSH_TLS_SERVERNAME",
    of: (n: number) => `n${n}`,
  },
] as const;

const DEFAULTS: Readonly<Record<string, readonly [string, string]>> = {
  server: ["localhost:2181", "default"],
  timeout: ["30s", "default"],
  "connect-timeout": ["10s", "default"],
};

describe.each(TABLE)("$name", ({ name, key, env, of }) => {
  const flags = { [name]: [of(1)] };
  const variables = { ZKSH_PROFILE: "p", [env]: of(2) };
  const profiles = { p: { [key]: of(3) }, empty: {} };
  const named = { ZKSH_PROFILE: "p" };

  test.each([
    {
      place: "the option",
      flags,
      env: variables,
      file: { profiles, [key]: of(4) },
      row: [of(1), `option --${name}`],
    },
    {
      place: "the environment",
      flags: {},
      env: variables,
      file: { profiles, [key]: of(4) },
      row: [of(2), `environment ${env}`],
    },
    {
      place: "the profile",
      flags: {},
      env: named,
      file: { profiles, [key]: of(4) },
      row: [of(3), "profile p"],
    },
    {
      place: "the file",
      flags: {},
      env: { ZKSH_PROFILE: "empty" },
      file: { profiles, [key]: of(4) },
      row: [of(4), "the settings file"],
    },
    {
      place: "the default",
      flags: {},
      env: { ZKSH_PROFILE: "empty" },
      file: { profiles },
      row: DEFAULTS[name] ?? [undefined, undefined],
    },
  ])("$place wins over what follows", ({ flags, env, file, row }) => {
    expect(setting(name, flags, env, file)).toEqual(row);
  });
});

describe("output", () => {
  const file = { output: "json" };
  const info = { programName: "zksh", file: fileOf(file) };

  test.each([
    { flags: { output: ["zkcli"] }, env: { ZKSH_OUTPUT: "text" }, format: "zkcli" },
    { flags: { json: ["true"] }, env: { ZKSH_OUTPUT: "text" }, format: "json" },
    { flags: {}, env: { ZKSH_OUTPUT: "text" }, format: "text" },
    { flags: {}, env: {}, format: "json" },
  ])("is $format with $flags and $env", ({ flags, env, format }) => {
    expect(readSettings(flags, { ...info, env }).output).toBe(format);
  });

  test("is zkCli's under its name, whatever the file says", () => {
    expect(readSettings({}, { ...info, env: {}, programName: "zkCli.sh" }).output).toBe("zkcli");
  });
});

describe("the profile", () => {
  const file = fileOf({
    profile: "local",
    profiles: {
      local: { server: "localhost:1" },
      prod: { server: "zk1,zk2", chroot: "/app", readOnly: true, tls: true },
      test: { server: "t1" },
    },
  });
  const read = (flags: GlobalFlags, env: Record<string, string> = {}) =>
    readSettings(flags, { env, programName: "zksh", file });
  const namesOf = (flags: GlobalFlags, env: Record<string, string> = {}) => {
    const { profile, session } = read(flags, env);
    return [profile?.name, profile?.origin, session.servers[0]?.host];
  };

  test.each([
    {
      flags: { profile: ["test"] },
      env: { ZKSH_PROFILE: "prod" },
      is: ["test", "option --profile", "t1"],
    },
    { flags: {}, env: { ZKSH_PROFILE: "prod" }, is: ["prod", "environment ZKSH_PROFILE", "zk1"] },
    { flags: {}, env: {}, is: ["local", "the settings file", "localhost"] },
    { flags: { server: ["x"] }, env: {}, is: [undefined, undefined, "x"] },
    { flags: {}, env: { ZKSH_SERVER: "y" }, is: [undefined, undefined, "y"] },
    { flags: { profile: ["prod"], server: ["x"] }, env: {}, is: ["prod", "option --profile", "x"] },
    {
      flags: { profile: ["test"] },
      env: { ZKSH_SERVER: "y" },
      is: ["test", "option --profile", "t1"],
    },
    {
      flags: {},
      env: { ZKSH_SERVER: "y", ZKSH_PROFILE: "test" },
      is: ["test", "environment ZKSH_PROFILE", "y"],
    },
    {
      flags: { embedded: ["true"] },
      env: { ZKSH_PROFILE: "prod" },
      is: [undefined, undefined, "localhost"],
    },
  ])("with $flags and $env is $is", ({ flags, env, is }) => {
    expect(namesOf(flags, env)).toEqual(is);
  });

  test("has a chroot of its own servers, and none elsewhere", () => {
    expect(read({ profile: ["prod"] }).session.chroot).toBe("/app");
    expect(read({ profile: ["prod"], server: ["x"] }).session.chroot).toBe("");
  });

  test("reaches the programs that we run, without passwords", () => {
    expect(read({ profile: ["prod"] }).environment).toEqual({ ZKSH_PROFILE: "prod" });
  });

  test("that does not exist is an error with a suggestion", () => {
    expect(() => read({ profile: ["prd"] })).toThrow(
      expect.objectContaining({ reason: "unknown-profile", hint: "did you mean prod?" }),
    );
  });

  test("cannot be two", () => {
    expect(() => read({ profile: ["prod", "test"] })).toThrow(
      "two profiles were given: prod and test",
    );
  });

  test("and --embedded contradict each other", () => {
    expect(() => read({ profile: ["prod"], embedded: ["true"] })).toThrow(
      "--embedded cannot be combined with --profile",
    );
  });

  test("that asks for TLS disagrees with a variable that turns it off", () => {
    expect(() => read({ profile: ["prod"] }, { ZKSH_TLS: "0" })).toThrow(
      "tls of profile prod asks for TLS, and ZKSH_TLS turns it off",
    );
  });

  test("names the key of a value that cannot be read", () => {
    const bad = fileOf({ profiles: { p: { timeout: "soon" } } });
    expect(() =>
      readSettings({ profile: ["p"] }, { env: {}, programName: "zksh", file: bad }),
    ).toThrow("bad duration 'soon' for timeout of profile p");
  });

  test("elsewhere counts without the command line and the environment", () => {
    const flags = { server: ["x"], timeout: ["7s"], "tls-ca": ["/own"], output: ["json"] };
    const env = { ZKSH_TIMEOUT: "8s", ZKSH_AUTH_FILE: "/own-auth" };
    const info = { env, programName: "zksh", file, flags };
    const elsewhere = settingsElsewhere("@test", readSettings(flags, info), info);
    expect(elsewhere.session).toMatchObject({ servers: [{ host: "t1" }], timeoutMs: 30_000 });
    expect(elsewhere).toMatchObject({ files: {}, tls: undefined, output: "json" });
  });

  test("is left with connect HOSTS, and its credentials stay behind", () => {
    const flags = { profile: ["prod"] };
    const info = { env: {}, programName: "zksh", file, flags };
    const elsewhere = settingsElsewhere("other:1", readSettings(flags, info), info);
    expect(elsewhere.profile).toBeUndefined();
    expect(elsewhere.tls).toBeUndefined();
    expect(elsewhere.writes.readOnly).toBeUndefined();
  });
});

describe("--write", () => {
  const file = fileOf({ profiles: { p: { readOnly: true, protect: ["/a"] } } });
  const read = (flags: GlobalFlags, env: Record<string, string> = {}) =>
    readSettings(flags, { env, programName: "zksh", file }).writes;

  test("lifts what a profile forbids", () => {
    const forbidden = read({ profile: ["p"] });
    expect([forbidden.readOnly, forbidden.protectedGlobs]).toEqual(["profile p", ["/a"]]);
    const allowed = read({ profile: ["p"], write: ["true"] });
    expect([allowed.readOnly, allowed.protectedGlobs]).toEqual([undefined, []]);
  });

  test("contradicts --read-only", () => {
    expect(() => read({ "read-only": ["true"], write: ["true"] })).toThrow(
      "--read-only and --write contradict each other",
    );
    expect(() => read({ write: ["true"] }, { ZKSH_READ_ONLY: "1" })).toThrow(
      "ZKSH_READ_ONLY and --write contradict each other",
    );
  });
});

test.each([
  [{ ZKSH_PAGER: "a", PAGER: "b" }, { pager: "c" }, ["a", "environment ZKSH_PAGER"]],
  [{ PAGER: "b" }, { pager: "c" }, ["b", "environment PAGER"]],
  [{ ZKSH_PAGER: "" }, { pager: "c" }, ["false", "environment ZKSH_PAGER"]],
  [{}, { pager: "c" }, ["c", "the settings file"]],
  [{}, { pager: false }, ["false", "the settings file"]],
  [{}, {}, ["less -FRX", "default"]],
])("with %j and %j the pager is %j", (env, settings, expected) => {
  expect(setting("pager", {}, env, settings)).toEqual(expected);
});

test.each([
  [{ history: false }, ["false", "the settings file"]],
  [{ history: 10 }, ["10", "the settings file"]],
  [{}, [undefined, undefined]],
])("with %j the history is %j", (settings, expected) => {
  expect(setting("history", {}, {}, settings)).toEqual(expected);
});

test("every option can be stored, or says that it cannot", () => {
  const stored = globalOptions.filter((option) => !("storedIn" in option)).map(({ name }) => name);
  expect(stored.filter((name) => /yes|write|command|embedded|debug|auth$/.test(name))).toEqual([]);
});
