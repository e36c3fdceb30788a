/** The options of a session: the settings together with the contents of the files they name. */
import { UsageError } from "../errors.ts";
import { isSocket, parseConnectString } from "../session/connect-string.ts";
import type { SaslOptions, SessionOptions, TlsOptions } from "../session/options.ts";
import { cannotRead } from "../text/file-failures.ts";
import type { TlsProperties } from "./client-properties.ts";
import type { LoginSources } from "./sasl-login.ts";
import type { SaslSetting } from "./sasl-settings.ts";
import { parseAuth, type Settings, tlsDisagreement } from "./settings.ts";
import {
  openFileWarning,
  sessionWarnings,
  visiblePasswordWarning,
  type Warnings,
} from "./warnings.ts";

/** `option` is the option or property that names the file. */
export type ReadFile = (path: string, option: string) => Promise<Buffer>;

/**
 * The options of a session to `target`, or to the servers that the program was started with. Throws
 * UsageError when a file cannot be read, and where two settings disagree about TLS.
 */
export async function sessionOptions(
  settings: Settings,
  readFile: ReadFile,
  target?: string,
): Promise<SessionOptions> {
  const { session, files } = settings;
  const where = target === undefined ? session : parseConnectString(target);
  const read = async (option: string, path: string) => readOrExplain(option, path, readFile);
  const auth = files.auth === undefined ? [] : parseAuthFile(await read("--auth-file", files.auth));
  // TLS settings are for servers on the network: a socket in the file system never leaves this
  // machine.
  const isPrivate = where.servers.every(isSocket);
  const tls = isPrivate ? undefined : await tlsOptions(settings, read);
  const { keeperPassword: file } = files;
  const keeperPassword =
    file === undefined || isPrivate
      ? undefined
      : keeperPasswordOf(await read("--keeper-password-file", file));
  return {
    ...session,
    ...where,
    auth: [...auth, ...(session.auth ?? [])],
    ...(tls && { tls }),
    ...(keeperPassword && { keeperPassword }),
  };
}

/** All that the handshake has room for. */
const MAX_KEEPER_PASSWORD_BYTES = 16;

/** The first line of the file. The message must not repeat it. Throws UsageError. */
function keeperPasswordOf(contents: Buffer): Buffer {
  const [line = ""] = contents.toString("latin1").split(/\r?\n/, 1);
  const password = Buffer.from(line, "latin1");
  const { length } = password;
  if (length === 0) throw new UsageError("no password in the file of --keeper-password-file");
  if (length > MAX_KEEPER_PASSWORD_BYTES)
    throw new UsageError(
      `the password in the file of --keeper-password-file has ${length} bytes; ClickHouse Keeper takes at most ${MAX_KEEPER_PASSWORD_BYTES}`,
    );
  return password;
}

/** Files that hold a secret, by the option or property that names them. */
const SECRET_FILE =
  /^(--auth-file|--sasl-file|--keeper-password-file|--jaas|--keytab|keyTab in .*|--tls-key|zookeeper\.ssl\.keystore\.location)$/is;

interface Files {
  readFile(path: string): Promise<Buffer>;
  /** Whether users other than its owner may read a file. */
  readonly isReadableByOthers: ((path: string) => Promise<boolean>) | undefined;
  askPassword(username: string): Promise<string>;
}

/**
 * As {@link sessionOptions}, with the login by SASL; tells what is risky about the options and
 * about their files.
 */
export async function checkedOptions(
  settings: Settings,
  { readFile, isReadableByOthers, askPassword }: Files,
  warnings: Warnings,
  target: string | undefined,
): Promise<SessionOptions> {
  const secrets = new Map<string, string>();
  const read = (path: string, option: string) => {
    if (SECRET_FILE.test(option)) secrets.set(path, option);
    return readFile(path);
  };
  const options = await sessionOptions(settings, read, target);
  await warnings.tell(sessionWarnings(options));
  // As TLS: a private server on this machine knows no users.
  const setting = options.servers.every(isSocket) ? undefined : settings.sasl;
  const sasl = await loginOf(setting, {
    readFile: (option, path) => readOrExplain(option, path, read),
    askPassword,
  });
  if (setting?.from === "user" && setting.isVisible)
    await warnings.tell([visiblePasswordWarning("--sasl", "--sasl-file FILE")]);
  for (const [path, option] of secrets) {
    if (await isReadableByOthers?.(path)) await warnings.tell([openFileWarning(option, path)]);
  }
  return { ...options, ...(sasl && { sasl }) };
}

async function loginOf(
  setting: SaslSetting | undefined,
  sources: LoginSources,
): Promise<SaslOptions | undefined> {
  if (setting === undefined) return undefined;
  // Most sessions do not log in: loaded only for those that do.
  const { saslLogin } = await import("./sasl-login.ts");
  return saslLogin(setting, sources);
}

type ReadNamed = (option: string, path: string) => Promise<Buffer>;

/** Undefined without TLS: only where nothing asks for it. */
async function tlsOptions(
  { files, tls }: Settings,
  read: ReadNamed,
): Promise<TlsOptions | undefined> {
  const properties =
    files.properties === undefined ? undefined : await readProperties(files.properties, read);
  if (tls && properties && tls.isOn !== properties.isOn) {
    throw tls.isOn
      ? tlsDisagreement(tls.source, properties.source)
      : tlsDisagreement(properties.source, tls.source);
  }
  if (!tls?.isOn && !properties?.isOn) return undefined;
  return {
    ...(properties?.isOn && properties.tls),
    ...(files.ca !== undefined && { ca: await read("--tls-ca", files.ca) }),
    ...(files.cert !== undefined && { cert: await read("--tls-cert", files.cert) }),
    ...(files.key !== undefined && { key: await read("--tls-key", files.key) }),
    ...(tls?.isOn && tls.servername !== undefined && { servername: tls.servername }),
    ...(tls?.isOn && tls.isInsecure && { insecure: true }),
  };
}

async function readProperties(file: string, read: ReadNamed): Promise<TlsProperties | undefined> {
  const text = String(await read("-client-configuration", file));
  // Rarely used: loaded only then.
  const { tlsFromProperties } = await import("./client-properties.ts");
  const found = await tlsFromProperties(text, read);
  return found && { ...found, source: `${found.source} in ${file}` };
}

async function readOrExplain(option: string, path: string, readFile: ReadFile): Promise<Buffer> {
  try {
    return await readFile(path, option);
  } catch (cause) {
    throw new UsageError(cannotRead(`${path} (${option})`, cause), { cause });
  }
}

function parseAuthFile(contents: Buffer): { scheme: string; credential: Buffer }[] {
  const lines = contents.toString().split(/\r?\n/);
  return lines
    .map((line, index) => ({ line, where: `line ${index + 1} of --auth-file` }))
    .filter(({ line }) => line.trim() !== "" && !line.startsWith("#"))
    .map(({ line, where }) => parseAuth(line, where));
}
