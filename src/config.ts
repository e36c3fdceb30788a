/** The program's settings: command line over environment over default. Pure, but for the files that are read through `readFile`. */
import { resolve } from "node:path";
import { tlsFromProperties } from "./client-properties.ts";
import { isTimeout, parseDuration, TIMEOUT_RANGE } from "./duration.ts";
import { UsageError } from "./errors.ts";
import {
  type GlobalFlags,
  type GlobalName,
  type GlobalOption,
  globalOptions,
  globalSpelling,
} from "./global-options.ts";
import type { OutputFormat } from "./render/renderer.ts";
import { parseConnectString } from "./session/connect-string.ts";
import type { SessionOptions, TlsOptions } from "./session/options.ts";

export type ColorChoice = "auto" | "always" | "never";
export type ReadFile = (path: string) => Promise<Buffer>;

/** What the caller knows besides the command line. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The name the program was started under. */
  readonly programName: string;
}

export interface Config {
  /** What the session needs, but for what is in files: {@link sessionOptions} adds that. */
  readonly session: SessionOptions;
  /** How to connect, as variables for the programs that we run; where to is the session's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly files: ConfigFiles;
  readonly tls: { readonly servername?: string; readonly isInsecure: boolean } | undefined;
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
        hint: "one script: lines, or ; between",
      });
    }
  }
  return {
    session: sessionSettings(settings),
    environment: passedOn(flags, isEmbedded),
    files: fileSettings(settings),
    tls: isEmbedded ? undefined : tlsSettings(settings),
    output: outputFormat(flags, surroundings),
    color: settings.choice("color", ["auto", "always", "never"]) ?? "auto",
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

/** The environment may name servers for other lines; a line that names one itself cannot mean its own server. */
function refuseOtherServers(flags: GlobalFlags): void {
  const other = globalOptions.find(({ name }) => /^(server|tls|client-conf)/.test(name) && flags[name] !== undefined);
  if (other) throw new UsageError(`--embedded and ${globalSpelling(other)} were both given`);
}

/** As it was given on the command line; the environment's is theirs already. */
function passedOn(flags: GlobalFlags, isEmbedded: boolean): Record<string, string> {
  // The environment's TLS is for other servers.
  const variables: Record<string, string> = isEmbedded ? { ZKSH_TLS: "0" } : {};
  for (const option of globalOptions) {
    const value = flags[option.name]?.at(-1);
    if (!("isPassedOn" in option) || value === undefined) continue;
    // They may run in another directory.
    variables[option.env] = "value" in option && option.value === "FILE" ? resolve(value) : value;
  }
  return variables;
}

/** The format alone: an error in any other setting is already reported in it. */
export function outputFormat(flags: GlobalFlags, { env, programName }: Surroundings): OutputFormat {
  const formats = ["text", "json", "zkcli"] as const;
  const asked = new Settings(flags, {});
  const onLine = asked.choice("output", formats) ?? (asked.isOn("json") ? "json" : undefined);
  if (onLine) return onLine;
  if (["zkcli", "zkcli.sh"].includes(programName.toLowerCase())) return "zkcli";
  return new Settings({}, env).choice("output", formats) ?? "text";
}

/** The session's options with the contents of all files. Throws UsageError when one cannot be read. */
export async function sessionOptions(config: Config, readFile: ReadFile): Promise<SessionOptions> {
  const { session, environment, files, tls } = config;
  const read = async (option: string, path: string) => readOrExplain(option, path, readFile);
  const auth = files.auth === undefined ? [] : parseAuthFile(await read("--auth-file", files.auth));
  const fromProperties =
    files.properties === undefined
      ? undefined
      : await tlsFromProperties((await read("-client-configuration", files.properties)).toString(), read);
  const own: TlsOptions | undefined = tls && {
    ...(files.ca !== undefined && { ca: await read("--tls-ca", files.ca) }),
    ...(files.cert !== undefined && { cert: await read("--tls-cert", files.cert) }),
    ...(files.key !== undefined && { key: await read("--tls-key", files.key) }),
    ...(tls.servername !== undefined && { servername: tls.servername }),
    ...(tls.isInsecure && { insecure: true }),
  };
  return {
    ...session,
    environment,
    auth: [...auth, ...(session.auth ?? [])],
    ...((own || fromProperties) && { tls: { ...fromProperties, ...own } }),
  };
}

async function readOrExplain(option: string, path: string, readFile: ReadFile): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`cannot read the file of ${option}: ${why}`, { cause });
  }
}

function sessionSettings(settings: Settings): SessionOptions {
  const timeoutMs = settings.duration("timeout") ?? 30_000;
  const isPatient = settings.isOn("waitforconnection");
  const asked = settings.duration("connect-timeout") ?? (isPatient ? timeoutMs : undefined);
  return {
    ...parseConnectString(settings.text("server") ?? "localhost:2181"),
    timeoutMs,
    connectTimeoutMs: asked ?? 10_000,
    // Where nobody listens, waiting rarely helps; whoever names a time is waiting for a server to come up.
    refusedTimeoutMs: asked ?? 1_000,
    readOnly: settings.isOn("read-only"),
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

/** Undefined without TLS. Any TLS setting turns it on, unless it is turned off by name. */
function tlsSettings(settings: Settings): Config["tls"] {
  const cert = settings.text("tls-cert");
  if ((cert === undefined) !== (settings.text("tls-key") === undefined)) {
    throw new UsageError("--tls-cert and --tls-key are needed together");
  }
  const servername = settings.text("tls-servername");
  const isInsecure = settings.isOn("tls-insecure");
  const isImplied = [settings.text("tls-ca"), cert, servername].some((value) => value !== undefined) || isInsecure;
  if (!(settings.toggle("tls") ?? isImplied)) return undefined;
  return { isInsecure, ...(servername !== undefined && { servername }) };
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
    throw new UsageError(`no scheme in ${where}`, { hint: "use SCHEME:CREDENTIAL, as in digest:USER:PASSWORD" });
  return { scheme: text.slice(0, colon), credential: Buffer.from(text.slice(colon + 1)) };
}

/** Looks a setting up on the command line, then in the environment; failures name the place it came from. */
class Settings {
  readonly #options = new Map<string, GlobalOption>(globalOptions.map((option) => [option.name, option]));
  readonly #flags: GlobalFlags;
  readonly #env: Surroundings["env"];

  constructor(flags: GlobalFlags, env: Surroundings["env"]) {
    this.#flags = flags;
    this.#env = env;
  }

  all(name: GlobalName): readonly string[] {
    return this.#flags[name] ?? [];
  }

  text(name: GlobalName): string | undefined {
    return this.#find(name)?.value;
  }

  isOn(name: GlobalName): boolean {
    return this.toggle(name) ?? false;
  }

  toggle(name: GlobalName): boolean | undefined {
    const found = this.#find(name);
    if (!found) return undefined;
    if (/^(1|true|yes|on)$/i.test(found.value)) return true;
    if (/^(0|false|no|off)$/i.test(found.value)) return false;
    throw new UsageError(`bad value '${found.value}' for ${found.source}`, { hint: "use 1 or 0" });
  }

  choice<const Choice extends string>(name: GlobalName, choices: readonly Choice[]): Choice | undefined {
    const found = this.#find(name);
    if (!found) return undefined;
    const choice = choices.find((candidate) => candidate === found.value);
    if (choice !== undefined) return choice;
    throw new UsageError(`bad value '${found.value}' for ${found.source}`, { hint: `use ${choices.join(", ")}` });
  }

  /** Milliseconds, more than none, and few enough for ZooKeeper's 32 bits. */
  duration(name: GlobalName): number | undefined {
    const found = this.#find(name);
    if (!found) return undefined;
    const ms = parseDurationOf(found);
    if (isTimeout(ms)) return ms;
    throw new UsageError(`bad duration '${found.value}' for ${found.source}`, { hint: TIMEOUT_RANGE });
  }

  #find(name: GlobalName): { value: string; source: string } | undefined {
    const value = this.#flags[name]?.at(-1);
    const option = this.#options.get(name);
    if (option && value !== undefined) return { value, source: globalSpelling(option) };
    const inherited = option?.env === undefined ? undefined : this.#env[option.env];
    return inherited ? { value: inherited, source: option?.env ?? name } : undefined;
  }
}

function parseDurationOf({ value, source }: { value: string; source: string }): number {
  try {
    return parseDuration(value);
  } catch (cause) {
    const hint = cause instanceof UsageError ? cause.hint : undefined;
    throw new UsageError(`bad duration '${value}' for ${source}`, { cause, ...(hint !== undefined && { hint }) });
  }
}
