/**
 * The program's settings: command line over environment over default. Pure, but for the files that
 * are read through `readFile`.
 */
import { resolve } from "node:path";
import { cannotRead, UsageError } from "../errors.ts";
import type { OutputFormat } from "../render/renderer.ts";
import { isSocket, parseConnectString } from "../session/connect-string.ts";
import type { SessionOptions, TlsOptions } from "../session/options.ts";
import type { TlsProperties } from "./client-properties.ts";
import { type GlobalFlags, globalOptions, globalSpelling } from "./global-options.ts";
import { Settings, type Variables } from "./settings.ts";

export type ColorChoice = "auto" | "always" | "never";
/** `option` is the option or property that names the file. */
export type ReadFile = (path: string, option: string) => Promise<Buffer>;

/** What the caller knows besides the command line. */
export interface Surroundings {
  readonly env: Variables;
  /** The name the program was started under. */
  readonly programName: string;
}

export interface Config {
  /** What the session needs, but for what is in files: {@link sessionOptions} adds that. */
  readonly session: SessionOptions;
  /** How to connect, as variables for the programs that we run; where to is the session's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly files: ConfigFiles;
  /** What the command line and the environment say of TLS; undefined when they say nothing. */
  readonly tls: TlsWish | undefined;
  readonly output: OutputFormat;
  readonly color: ColorChoice;
  readonly isEmbedded: boolean;
  /** Nobody has named a server. */
  readonly isDefaultServer: boolean;
  /** The text of `-c`. */
  readonly script: string | undefined;
  /** The name after `-f`; `-` is stdin. */
  readonly scriptFile: string | undefined;
  /** A script goes on after a failure. */
  readonly keepsGoing: boolean;
  /** Every question is answered with yes. */
  readonly isYes: boolean;
  /** Nothing is asked, even on a terminal. */
  readonly isNoInput: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  readonly isDebug: boolean;
}

/** TLS is on or off because of the option or variable `source`. */
type TlsWish =
  | {
      readonly isOn: true;
      readonly source: string;
      readonly servername?: string;
      readonly isInsecure: boolean;
    }
  | { readonly isOn: false; readonly source: string };

interface ConfigFiles {
  readonly auth?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly properties?: string;
}

/** Throws UsageError with the name of the option or variable that is wrong. */
export function readConfig(flags: GlobalFlags, surroundings: Surroundings): Config {
  const settings = new Settings(flags, surroundings.env);
  const isEmbedded = settings.isOn("embedded");
  if (isEmbedded) refuseOtherServers(flags);
  for (const name of ["command", "file"] as const) {
    if ((flags[name]?.length ?? 0) > 1) {
      throw new UsageError(`${name === "command" ? "-c" : "-f"} was given twice`, {
        hint: "join the commands with ; in one script",
      });
    }
  }
  return {
    session: sessionSettings(settings),
    environment: passedOn(flags),
    files: fileSettings(settings),
    tls: tlsSettings(settings),
    output: outputFormat(flags, surroundings),
    color: settings.choice("color", COLOR_CHOICES) ?? "auto",
    isEmbedded,
    isDefaultServer: !isEmbedded && settings.text("server") === undefined,
    script: settings.text("command"),
    scriptFile: settings.text("file"),
    keepsGoing: settings.isOn("keep-going"),
    isYes: settings.isOn("yes"),
    isNoInput: settings.isOn("no-input"),
    isQuiet: settings.isOn("quiet"),
    isVerbose: settings.isOn("verbose"),
    isDebug: settings.isOn("debug"),
  };
}

/**
 * The environment may name servers for other lines; a line that names one itself cannot mean its
 * own server.
 */
function refuseOtherServers(flags: GlobalFlags): void {
  const other = globalOptions.find(
    ({ name }) => /^(server|tls|client-conf)/.test(name) && flags[name] !== undefined,
  );
  if (other) throw new UsageError(`--embedded cannot be combined with ${globalSpelling(other)}`);
}

/** As it was given on the command line; the environment's is theirs already. */
function passedOn(flags: GlobalFlags): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const option of globalOptions) {
    const value = flags[option.name]?.at(-1);
    if (!("isPassedOn" in option) || value === undefined) continue;
    // They may run in another directory.
    variables[option.env] = "value" in option && option.value === "FILE" ? resolve(value) : value;
  }
  return variables;
}

const OUTPUT_FORMATS = ["text", "json", "zkcli"] as const;
const COLOR_CHOICES = ["auto", "always", "never"] as const;

/** The settings of one line, whose own options win over the program's. Throws UsageError. */
export function lineConfig(config: Config, flags: GlobalFlags): Config {
  const line = new Settings(flags, {});
  const isQuiet = line.toggle("quiet");
  const isVerbose = line.toggle("verbose");
  return {
    ...config,
    output: line.choice("output", OUTPUT_FORMATS) ?? (line.isOn("json") ? "json" : config.output),
    color: line.choice("color", COLOR_CHOICES) ?? config.color,
    isYes: line.toggle("yes") ?? config.isYes,
    // A line that asks for more does not stay quiet because the program was started so, nor the
    // other way round.
    isQuiet: isQuiet ?? (config.isQuiet && !isVerbose),
    isVerbose: isVerbose ?? (config.isVerbose && !isQuiet),
    isDebug: line.toggle("debug") ?? config.isDebug,
  };
}

/** The flags of the program with those of one of its lines, which win. */
export function lineFlags(program: GlobalFlags, line: GlobalFlags): GlobalFlags {
  const { output, json, ...others } = program;
  // --json is a spelling of --output: the program's must not win over the line's.
  return {
    ...others,
    ...(line.output || line.json ? {} : { ...(output && { output }), ...(json && { json }) }),
    ...line,
  };
}

/** The format alone: an error in any other setting is already reported in it. */
export function outputFormat(flags: GlobalFlags, { env, programName }: Surroundings): OutputFormat {
  const asked = new Settings(flags, {});
  const onLine =
    asked.choice("output", OUTPUT_FORMATS) ?? (asked.isOn("json") ? "json" : undefined);
  if (onLine) return onLine;
  if (["zkcli", "zkcli.sh"].includes(programName.toLowerCase())) return "zkcli";
  return new Settings({}, env).choice("output", OUTPUT_FORMATS) ?? "text";
}

/**
 * The options of a session with the servers of `target`, or else with those that the program was
 * started with; with the contents of all files. Throws UsageError when one cannot be read, and
 * where two settings disagree about TLS.
 */
export async function sessionOptions(
  config: Config,
  readFile: ReadFile,
  target?: string,
): Promise<SessionOptions> {
  const { session, files } = config;
  const where = target === undefined ? session : parseConnectString(target);
  const read = async (option: string, path: string) => readOrExplain(option, path, readFile);
  const auth = files.auth === undefined ? [] : parseAuthFile(await read("--auth-file", files.auth));
  // TLS settings are for servers on the network: a socket in the file system never leaves this
  // machine.
  const tls = where.servers.every(isSocket) ? undefined : await tlsOptions(config, read);
  return {
    ...session,
    ...where,
    auth: [...auth, ...(session.auth ?? [])],
    ...(tls && { tls }),
  };
}

type ReadNamed = (option: string, path: string) => Promise<Buffer>;

/** Undefined without TLS: only where nothing asks for it. */
async function tlsOptions(
  { files, tls }: Config,
  read: ReadNamed,
): Promise<TlsOptions | undefined> {
  const properties =
    files.properties === undefined ? undefined : await readProperties(files.properties, read);
  if (tls && properties && tls.isOn !== properties.isOn) {
    throw tls.isOn
      ? disagreement(tls.source, properties.source)
      : disagreement(properties.source, tls.source);
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
  // Few people have such a file.
  const { tlsFromProperties } = await import("./client-properties.ts");
  const found = await tlsFromProperties(text, read);
  return found && { ...found, source: `${found.source} in ${file}` };
}

function disagreement(on: string, off: string): UsageError {
  return new UsageError(`${on} asks for TLS, and ${off} turns it off`, {
    hint: "remove one of them",
  });
}

async function readOrExplain(option: string, path: string, readFile: ReadFile): Promise<Buffer> {
  try {
    return await readFile(path, option);
  } catch (cause) {
    throw new UsageError(cannotRead(`${path} (${option})`, cause), { cause });
  }
}

/** The longest request that servers take unless they are told otherwise. */
const JUTE_MAXBUFFER = 0xfffff;

function sessionSettings(settings: Settings): SessionOptions {
  const timeoutMs = settings.duration("timeout") ?? 30_000;
  const isPatient = settings.isOn("waitforconnection");
  const asked = settings.duration("connect-timeout") ?? (isPatient ? timeoutMs : undefined);
  const maxReplyBytes = settings.size("max-reply");
  const maxRequestBytes = settings.size("max-request") ?? JUTE_MAXBUFFER;
  return {
    ...parseConnectString(settings.text("server") ?? "localhost:2181"),
    timeoutMs,
    connectTimeoutMs: asked ?? 10_000,
    // Where nobody listens, waiting rarely helps; whoever names a time is waiting for a server to
    // come up.
    refusedTimeoutMs: asked ?? 1_000,
    readOnly: settings.isOn("read-only"),
    ...(maxReplyBytes !== undefined && { maxReplyBytes }),
    maxRequestBytes,
    auth: settings.all("auth").map((text) => parseAuth(text, "--auth")),
  };
}

function fileSettings(settings: Settings): ConfigFiles {
  const files = {
    auth: settings.text("auth-file"),
    ca: settings.text("tls-ca"),
    cert: settings.text("tls-cert"),
    key: settings.text("tls-key"),
    properties: settings.text("client-configuration"),
  };
  return Object.fromEntries(Object.entries(files).filter(([, path]) => path !== undefined));
}

/** Any TLS setting turns it on. Throws UsageError where another one turns it off by name. */
function tlsSettings(settings: Settings): Config["tls"] {
  const cert = settings.text("tls-cert");
  if ((cert === undefined) !== (settings.text("tls-key") === undefined)) {
    throw new UsageError("--tls-cert and --tls-key must be given together");
  }
  const servername = settings.text("tls-servername");
  const isInsecure = settings.isOn("tls-insecure");
  const switches = settings.toggles("tls");
  const implied = (["tls-ca", "tls-cert", "tls-servername"] as const).flatMap((name) =>
    settings.sources(name),
  );
  const wishes = [
    ...switches.filter(({ isOn }) => isOn).map(({ source }) => source),
    ...implied,
    ...(isInsecure ? settings.sources("tls-insecure") : []),
  ];
  const off = switches.find(({ isOn }) => !isOn);
  const [source] = wishes;
  if (source !== undefined && off) throw disagreement(source, off.source);
  if (source === undefined) return off && { isOn: false, source: off.source };
  return { isOn: true, source, isInsecure, ...(servername !== undefined && { servername }) };
}

function parseAuthFile(contents: Buffer): { scheme: string; credential: Buffer }[] {
  const lines = contents.toString().split(/\r?\n/);
  return lines
    .map((line, index) => ({ line, where: `line ${index + 1} of --auth-file` }))
    .filter(({ line }) => line.trim() !== "" && !line.startsWith("#"))
    .map(({ line, where }) => parseAuth(line, where));
}

function parseAuth(text: string, where: string): { scheme: string; credential: Buffer } {
  const colon = text.indexOf(":");
  // The text is a secret, so the message must not repeat it.
  if (colon <= 0)
    throw new UsageError(`no scheme in ${where}`, {
      hint: "use SCHEME:CREDENTIAL, for example digest:USER:PASSWORD",
    });
  return { scheme: text.slice(0, colon), credential: Buffer.from(text.slice(colon + 1)) };
}
