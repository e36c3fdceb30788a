/** The login of a session: the settings together with what is in files, or typed. */
import { resolve } from "node:path";
import { UsageError } from "../errors.ts";
import type { GssapiOptions, SaslOptions } from "../session/options.ts";
import { type DigestUser, parseDigestUser, type SaslSetting } from "./sasl-settings.ts";

/** Files of passwords are short. */
const MAX_BYTES = 64 * 1024;

export interface LoginSources {
  /** `option` is the option that names the file. */
  readFile(option: string, path: string): Promise<Buffer>;
  askPassword(username: string): Promise<string>;
}

/** Throws UsageError, or what `askPassword` throws. */
export async function saslLogin(setting: SaslSetting, sources: LoginSources): Promise<SaslOptions> {
  if (setting.from === "jaas") return fromJaas(setting, sources);
  if (setting.from === "user")
    return { mechanism: "DIGEST-MD5", ...(await fromUser(setting, sources)) };
  const { from: _, ...options } = setting;
  return gssapi(options, "--keytab", sources);
}

async function fromJaas(
  { file, section, service, host }: Extract<SaslSetting, { from: "jaas" }>,
  sources: LoginSources,
): Promise<SaslOptions> {
  const text = await readText("--jaas", file, sources);
  // Rarely used: loaded only then.
  const { jaasLogin } = await import("./jaas.ts");
  const login = jaasLogin(text, file, section);
  if (login.mechanism === "DIGEST-MD5") return login;
  const server = { ...(service && { service }), ...(host && { host }) };
  return gssapi({ ...login, ...server }, `keyTab in ${file}`, sources);
}

/** Notices here that a keytab cannot be read: the Kerberos library only says that it has no key. */
async function gssapi(
  { keytab, ...options }: Omit<GssapiOptions, "mechanism">,
  option: string,
  { readFile }: LoginSources,
): Promise<SaslOptions> {
  if (keytab !== undefined) await readFile(option, keytab);
  return {
    mechanism: "GSSAPI",
    ...options,
    ...(keytab !== undefined && { keytab: resolve(keytab) }),
  };
}

async function fromUser(
  { username, password, file }: Extract<SaslSetting, { from: "user" }>,
  sources: LoginSources,
): Promise<Required<DigestUser>> {
  const inFile = file === undefined ? {} : await readUser(file, sources, username);
  const user = username ?? inFile.username;
  if (user === undefined)
    throw new UsageError(`no user in ${file} (--sasl-file)`, {
      hint: "give the user with --sasl digest:USER, or write digest:USER:PASSWORD in the file",
    });
  return {
    username: user,
    password: password ?? inFile.password ?? (await sources.askPassword(user)),
  };
}

/** One line: `digest:USER:PASSWORD`, or the password of `username`. */
async function readUser(
  file: string,
  sources: LoginSources,
  username: string | undefined,
): Promise<Partial<DigestUser>> {
  const where = `${file} (--sasl-file)`;
  const line = (await readText("--sasl-file", file, sources)).replace(/\r?\n$/, "");
  if (line === "") throw new UsageError(`no password in ${where}`);
  if (/[\r\n]/.test(line)) throw new UsageError(`more than one line in ${where}`);
  if (!/^digest:[^:]+:/.test(line)) return { password: line };
  const user = parseDigestUser(line, where);
  if (username !== undefined && user.username !== username)
    throw new UsageError(`${where} has the password of ${user.username}, not of ${username}`);
  return user;
}

async function readText(option: string, file: string, sources: LoginSources): Promise<string> {
  const bytes = await sources.readFile(option, file);
  if (bytes.length > MAX_BYTES)
    throw new UsageError(`${file} (${option}) is longer than ${MAX_BYTES / 1024} KB`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${file} (${option}) is not text in UTF-8`, { cause });
  }
}
