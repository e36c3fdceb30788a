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
  | { readonly from: "jaas"; readonly file: string; readonly section: string };

export interface DigestUser {
  readonly username: string;
  readonly password?: string;
}

const MECHANISM_HINT = "use digest:USER, for example --sasl digest:bob, and --sasl-file FILE";

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
  const { jaas } = isOnLine ? line : inherited;
  if (jaas !== undefined) return { from: "jaas", ...parseJaasName(jaas) };
  const user = line.sasl ?? inherited.sasl;
  const hasPassword = user?.password !== undefined;
  const file = line.file ?? (hasPassword ? undefined : inherited.file);
  if (user === undefined && file === undefined) return undefined;
  const username = user?.username;
  const password = file === undefined ? user?.password : undefined;
  return {
    from: "user",
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(file !== undefined && { file }),
    isVisible: line.sasl?.password !== undefined,
  };
}

/**
 * For the programs that we run: who logs in and the names of files, never a password. All three
 * are set, so that none of our own environment disagrees with them.
 */
export function saslEnvironment(setting: SaslSetting | undefined): Record<string, string> {
  if (setting === undefined) return {};
  const none = { ZKSH_SASL: "", ZKSH_SASL_FILE: "", ZKSH_JAAS: "" };
  if (setting.from === "jaas")
    return { ...none, ZKSH_JAAS: `${resolve(setting.file)}#${setting.section}` };
  const { username, file } = setting;
  return {
    ...none,
    ...(username !== undefined && { ZKSH_SASL: `digest:${username}` }),
    ...(file !== undefined && { ZKSH_SASL_FILE: resolve(file) }),
  };
}

/** `digest:USER` or `digest:USER:PASSWORD`; messages never repeat it, for it may be a secret. */
export function parseDigestUser(text: string, where: string): DigestUser {
  const [mechanism = "", ...rest] = text.split(":");
  if (mechanism.toLowerCase() === "gssapi")
    throw new UsageError(`${where} asks for GSSAPI (Kerberos), which zksh does not have`, {
      hint: "zksh logs in by DIGEST-MD5: --sasl digest:USER",
    });
  if (mechanism.toLowerCase() !== "digest" || rest.length === 0)
    throw new UsageError(`no mechanism in ${where}`, { hint: MECHANISM_HINT });
  const [username = "", ...password] = rest;
  if (username === "") throw new UsageError(`no user in ${where}`, { hint: MECHANISM_HINT });
  if (/[\0\r\n]/.test(text)) throw new UsageError(`a line break in ${where}`);
  return { username, ...(password.length > 0 && { password: password.join(":") }) };
}

interface Settings {
  readonly sasl: DigestUser | undefined;
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
  const sasl = text === undefined ? undefined : parseDigestUser(text, names.sasl);
  const fileName = names.sasl === "--sasl" ? "--sasl-file" : "ZKSH_SASL_FILE";
  if (isChecked && jaas !== undefined && (sasl ?? file) !== undefined)
    throw disagreement(sasl ? names.sasl : fileName, names.jaas);
  if (isChecked && sasl?.password !== undefined && file !== undefined)
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
