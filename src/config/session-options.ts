/** The options of a session: the settings together with the contents of the files they name. */
import { UsageError } from "../errors.ts";
import { isSocket, parseConnectString } from "../session/connect-string.ts";
import type { SaslOptions, SessionOptions, TlsOptions } from "../session/options.ts";
import { cannotRead } from "../text/file-failures.ts";
import type { LoginSources } from "./sasl-login.ts";
import type { SaslSetting } from "./sasl-settings.ts";
import { parseAuth, type Settings } from "./settings.ts";
import type { TlsSources, WantedPassword } from "./tls-options.ts";
import {
  openFileWarning,
  sessionWarnings,
  visiblePasswordWarning,
  type Warning,
  type Warnings,
} from "./warnings.ts";

/** `option` is the option or property that names the file. */
type ReadFile = (path: string, option: string) => Promise<Buffer>;

/** Where options come from besides the settings, and who is told of them. */
export interface OptionSources extends Partial<Pick<TlsSources, "warn" | "holdsSecret">> {
  readonly readFile: ReadFile;
  askPassword(wanted: WantedPassword): Promise<string>;
}

/**
 * The options of a session to `target`, or to the servers that the program was started with. Throws
 * UsageError when a file cannot be read or used, and where two settings disagree about TLS.
 */
export async function sessionOptions(
  settings: Settings,
  sources: OptionSources,
  target?: string,
): Promise<SessionOptions> {
  const { session, files } = settings;
  const where = target === undefined ? session : parseConnectString(target);
  const read: ReadNamed = async (option, path) => readOrExplain(option, path, sources.readFile);
  const auth = files.auth === undefined ? [] : parseAuthFile(await read("--auth-file", files.auth));
  // TLS settings are for servers on the network: a socket in the file system never leaves this
  // machine.
  const isPrivate = where.servers.every(isSocket);
  const tls = isPrivate ? undefined : await tlsOf(settings, read, sources);
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
  /^(--auth-file|--sasl-file|--keeper-password-file|--jaas|--keytab|keyTab in .*|--tls-key(store)?(-password-file)?|zookeeper\.ssl\.keystore\.(location|passwordpath))$/is;

interface Files {
  readFile(path: string): Promise<Buffer>;
  /** Whether users other than its owner may read a file. */
  readonly isReadableByOthers: ((path: string) => Promise<boolean>) | undefined;
  askPassword(wanted: WantedPassword): Promise<string>;
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
  const found: Warning[] = [];
  const options = await sessionOptions(
    settings,
    {
      readFile: read,
      askPassword,
      warn: (warning) => found.push(warning),
      holdsSecret: (option, path) => secrets.set(path, option),
    },
    target,
  );
  await warnings.tell([...found, ...sessionWarnings(options)]);
  // As TLS: a private server on this machine knows no users.
  const setting = options.servers.every(isSocket) ? undefined : settings.sasl;
  const sasl = await loginOf(setting, {
    readFile: (option, path) => readOrExplain(option, path, read),
    askPassword: (username) =>
      askPassword({
        what: `${username}'s password`,
        question: `SASL password for ${username}`,
        instead: "--sasl-file FILE",
      }),
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
async function tlsOf(
  settings: Settings,
  read: ReadNamed,
  { askPassword, warn = () => {}, holdsSecret = () => {} }: OptionSources,
): Promise<TlsOptions | undefined> {
  const { files, tls, javaTls } = settings;
  if (tls === undefined && files.properties === undefined && javaTls === undefined)
    return undefined;
  // Most sessions have no TLS: loaded only for those that do.
  const { tlsOptions } = await import("./tls-options.ts");
  return tlsOptions(settings, { read, askPassword, warn, holdsSecret });
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
