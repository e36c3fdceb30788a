/** Who logs in by SASL, as the command line or the environment says it. */
import { resolve } from "node:path";
import { UsageError } from "../errors.ts";
import type { GlobalFlags } from "./global-options.ts";
import { SettingReader, type Variables } from "./setting-reader.ts";

export type SaslSetting =
  | {
      readonly from: "user";
      /** Undefined: the file has it. */
      readonly username?: string;
      readonly password?: string;
      /** With the password, or with `digest:USER:PASSWORD`. */
      readonly file?: string;
      /** The password is in the arguments of the process. */
      readonly isVisible: boolean;
    }
  | ({ readonly from: "jaas"; readonly file: string; readonly section: string } & ServerName)
  | ({
      readonly from: "kerberos";
      /** Left out: the ticket cache. */
      readonly keytab?: string;
      readonly principal?: string;
    } & ServerName);

/** The server's principal for Kerberos, where it is not zookeeper/HOST of the connect string. */
interface ServerName {
  readonly service?: string;
  readonly host?: string;
}

export interface DigestUser {
  readonly username: string;
  readonly password?: string;
}

const MECHANISM_HINT =
  "use digest:USER, for example --sasl digest:bob, and --sasl-file FILE; or gssapi for Kerberos";
const VARIABLES = [
  "ZKSH_SASL",
  "ZKSH_SASL_FILE",
  "ZKSH_JAAS",
  "ZKSH_SASL_SERVICE",
  "ZKSH_SASL_HOST",
  "ZKSH_KEYTAB",
  "ZKSH_PRINCIPAL",
] as const;
const KERBEROS_OPTIONS = ["sasl-service", "sasl-host", "keytab", "principal"] as const;

/**
 * The command line wins over the environment: there `--jaas` and `--sasl` replace each other. Two
 * of the same place that disagree are an error. Throws UsageError.
 */
export function saslSetting(flags: GlobalFlags, env: Variables): SaslSetting | undefined {
  const line = settingsOf(new SettingReader(flags, {}), { jaas: "--jaas", sasl: "--sasl" });
  const { sasl: given = [] } = flags;
  if (new Set(given).size > 1) throw disagreement("--sasl", "--sasl");
  const isOnLine = line.sasl !== undefined || line.file !== undefined || line.jaas !== undefined;
  const inherited = settingsOf(
    new SettingReader({}, env),
    { jaas: "ZKSH_JAAS", sasl: "ZKSH_SASL" },
    { isChecked: !isOnLine },
  );
  const setting = whoLogsIn(line, inherited, isOnLine);
  refuseUnusedOptions(setting, flags);
  return setting?.from === "user" ? setting : withKerberos(setting, new SettingReader(flags, env));
}

function whoLogsIn(
  line: Settings,
  inherited: Settings,
  isOnLine: boolean,
): SaslSetting | undefined {
  const { jaas } = isOnLine ? line : inherited;
  if (jaas !== undefined) return { from: "jaas", ...parseJaasName(jaas) };
  const user = line.sasl ?? inherited.sasl;
  if (user === "gssapi" && line.file === undefined) return { from: "kerberos" };
  const digest = user === "gssapi" ? undefined : user;
  const hasPassword = digest?.password !== undefined;
  const file = line.file ?? (hasPassword ? undefined : inherited.file);
  if (digest === undefined && file === undefined) return undefined;
  const username = digest?.username;
  const password = file === undefined ? digest?.password : undefined;
  return {
    from: "user",
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(file !== undefined && { file }),
    isVisible: line.sasl !== "gssapi" && line.sasl?.password !== undefined,
  };
}

/** Variables may be there for other commands; an option that does nothing is a mistake. */
function refuseUnusedOptions(setting: SaslSetting | undefined, flags: GlobalFlags): void {
  for (const name of KERBEROS_OPTIONS) {
    const isUsed =
      setting?.from === "kerberos" || (setting?.from === "jaas" && name.startsWith("sasl-"));
    if (flags[name] === undefined || isUsed) continue;
    if (setting?.from === "jaas") throw disagreement(`--${name}`, "--jaas");
    throw new UsageError(`--${name} is for Kerberos`, {
      hint: setting === undefined ? "add --sasl gssapi" : `remove it, or log in with --sasl gssapi`,
    });
  }
}

function withKerberos(
  setting: Exclude<SaslSetting, { from: "user" }> | undefined,
  reader: SettingReader,
): SaslSetting | undefined {
  if (setting === undefined) return undefined;
  const service = named(reader, "sasl-service", /[@/]/);
  const host = named(reader, "sasl-host", /[@/]/);
  const server = { ...(service && { service }), ...(host && { host }) };
  if (setting.from === "jaas") return { ...setting, ...server };
  const keytab = named(reader, "keytab");
  const principal = named(reader, "principal");
  return { ...setting, ...server, ...(keytab && { keytab }), ...(principal && { principal }) };
}

function named(
  reader: SettingReader,
  name: (typeof KERBEROS_OPTIONS)[number],
  forbidden = /\p{Cc}/u,
): string | undefined {
  const text = reader.text(name);
  if (text === undefined) return undefined;
  const [source = name] = reader.sources(name);
  if (text === "" || forbidden.test(text) || /\p{Cc}/u.test(text))
    throw new UsageError(`bad value '${text}' for ${source}`);
  return text;
}

/**
 * For the programs that we run: who logs in and the names of files, never a password. All
 * variables are set, so that none of our own environment disagrees with them.
 */
export function saslEnvironment(setting: SaslSetting | undefined): Record<string, string> {
  if (setting === undefined) return {};
  const none = Object.fromEntries(VARIABLES.map((name) => [name, ""]));
  if (setting.from === "user") {
    const { username, file } = setting;
    return {
      ...none,
      ...(username !== undefined && { ZKSH_SASL: `digest:${username}` }),
      ...(file !== undefined && { ZKSH_SASL_FILE: resolve(file) }),
    };
  }
  const { service = "", host = "" } = setting;
  const server = { ...none, ZKSH_SASL_SERVICE: service, ZKSH_SASL_HOST: host };
  if (setting.from === "jaas")
    return { ...server, ZKSH_JAAS: `${resolve(setting.file)}#${setting.section}` };
  const { keytab, principal = "" } = setting;
  return {
    ...server,
    ZKSH_SASL: "gssapi",
    ZKSH_KEYTAB: keytab === undefined ? "" : resolve(keytab),
    ZKSH_PRINCIPAL: principal,
  };
}

/** `digest:USER` or `digest:USER:PASSWORD`; messages never repeat it, for it may be a secret. */
export function parseDigestUser(text: string, where: string): DigestUser {
  const [mechanism = "", ...rest] = text.split(":");
  if (mechanism.toLowerCase() === "gssapi")
    throw new UsageError(`${where} has more than gssapi`, {
      hint: "use --sasl gssapi, with --keytab FILE and --principal NAME where needed",
    });
  if (mechanism.toLowerCase() !== "digest" || rest.length === 0)
    throw new UsageError(`no mechanism in ${where}`, { hint: MECHANISM_HINT });
  const [username = "", ...password] = rest;
  if (username === "") throw new UsageError(`no user in ${where}`, { hint: MECHANISM_HINT });
  if (/[\0\r\n]/.test(text)) throw new UsageError(`a line break in ${where}`);
  return { username, ...(password.length > 0 && { password: password.join(":") }) };
}

interface Settings {
  readonly sasl: DigestUser | "gssapi" | undefined;
  readonly file: string | undefined;
  readonly jaas: string | undefined;
}

function settingsOf(
  reader: SettingReader,
  names: { readonly jaas: string; readonly sasl: string },
  { isChecked = true } = {},
): Settings {
  const text = reader.text("sasl");
  const file = reader.text("sasl-file");
  const jaas = reader.text("jaas");
  const isKerberos = text?.toLowerCase() === "gssapi";
  const digest = text === undefined || isKerberos ? undefined : parseDigestUser(text, names.sasl);
  const sasl = isKerberos ? "gssapi" : digest;
  const fileName = names.sasl === "--sasl" ? "--sasl-file" : "ZKSH_SASL_FILE";
  if (isChecked && jaas !== undefined && (sasl ?? file) !== undefined)
    throw disagreement(sasl ? names.sasl : fileName, names.jaas);
  if (isChecked && isKerberos && file !== undefined)
    throw new UsageError(`${fileName} is for DIGEST-MD5, and ${names.sasl} asks for Kerberos`, {
      hint: "remove one of them; Kerberos takes --keytab FILE",
    });
  if (isChecked && digest?.password !== undefined && file !== undefined)
    throw new UsageError(`${names.sasl} and ${fileName} both give a password`, {
      hint: "remove one of them",
    });
  return { sasl, file, jaas };
}

function disagreement(one: string, other: string): UsageError {
  return new UsageError(
    one === other ? `${one} was given twice` : `${one} and ${other} both say who logs in`,
    { hint: "remove one of them" },
  );
}

/** `FILE#Section`; a `#` in the name of the file itself needs a section behind it. */
function parseJaasName(text: string): { readonly file: string; readonly section: string } {
  const hash = text.lastIndexOf("#");
  const section = hash < 0 ? "" : text.slice(hash + 1);
  return { file: hash < 0 ? text : text.slice(0, hash), section: section || "Client" };
}
