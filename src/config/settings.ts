/**
 * The program's settings: the command line wins over the environment, that over the profile, that
 * over the rest of the settings file, that over the default.
 */
import { resolve } from "node:path";
import { UsageError } from "../errors.ts";
import type { ColorChoice, OutputFormat } from "../render/renderer.ts";
import { parseConnectString } from "../session/connect-string.ts";
import { JUTE_MAXBUFFER } from "../session/jute-maxbuffer.ts";
import type { SessionOptions } from "../session/options.ts";
import type { WriteRules } from "../session/write-rules.ts";
import { type GlobalFlags, globalOptions, globalSpelling } from "./global-options.ts";
import { type ChosenProfile, chooseProfile, layersOf, writeRules } from "./profiles.ts";
import { type SaslSetting, saslEnvironment, saslSetting } from "./sasl-settings.ts";
import { SettingReader, type Variables } from "./setting-reader.ts";
import { storedSasl } from "./stored-sasl.ts";
import type { Habits, SettingsFile } from "./stored-settings.ts";
import {
  type JavaTls,
  javaTls,
  type TlsFiles,
  type TlsSetting,
  tlsEnvironment,
  tlsFiles,
  tlsSetting,
} from "./tls-settings.ts";

/** What the process knows besides its arguments. */
export interface ProcessInfo {
  readonly env: Variables;
  /** The name the program was started under. */
  readonly programName: string;
  /** The settings file; undefined where there is none. */
  readonly file?: SettingsFile | undefined;
}

export interface Settings {
  /** The options of the session; {@link sessionOptions} adds what is in files. */
  readonly session: SessionOptions;
  /** How to connect, as variables for the programs that we run; the session knows the servers. */
  readonly environment: Readonly<Record<string, string>>;
  readonly files: SettingFiles;
  /** TLS as the command line and the environment set it; undefined when they do not. */
  readonly tls: TlsSetting | undefined;
  /** TLS as the environment sets it for Java clients. */
  readonly javaTls: JavaTls | undefined;
  /** The login by SASL; undefined for a session without one. */
  readonly sasl: SaslSetting | undefined;
  readonly output: OutputFormat;
  readonly color: ColorChoice;
  readonly isEmbedded: boolean;
  /** No server was named. */
  readonly isDefaultServer: boolean;
  /** The text of `-c`. */
  readonly script: string | undefined;
  /** The name after `-f`; `-` is stdin. */
  readonly scriptFile: string | undefined;
  /** A script goes on after a failure. */
  readonly keepsGoing: boolean;
  /** Every question is answered with yes. */
  readonly isYes: boolean;
  /** No question is asked, even on a terminal. */
  readonly isNoInput: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  readonly isDebug: boolean;
  /** Results that are longer than the screen go to a pager. */
  readonly hasPager: boolean;
  readonly profile: ChosenProfile | undefined;
  readonly writes: WriteRules;
  /** --write: also at servers of other profiles. */
  readonly allowsWrites: boolean;
  readonly habits: Habits;
  /** Where each option was given. */
  readonly reader: SettingReader;
}

interface SettingFiles extends TlsFiles {
  readonly auth?: string;
  readonly keeperPassword?: string;
}

/** Throws UsageError with the name of the option or variable that is wrong. */
export function readSettings(flags: GlobalFlags, info: ProcessInfo): Settings {
  const isEmbedded = new SettingReader(flags, {}).isOn("embedded");
  if (isEmbedded) refuseOtherServers(flags);
  const profile = isEmbedded ? undefined : chooseProfile(flags, info);
  const layers = layersOf(profile, info.file);
  const reader = new SettingReader(flags, profile ? profile.variables(info.env) : info.env, layers);
  for (const name of ["command", "file"] as const) {
    if ((flags[name]?.length ?? 0) > 1) {
      throw new UsageError(`${name === "command" ? "-c" : "-f"} was given twice`, {
        hint: "join the commands with ; in one script",
      });
    }
  }
  const ownSasl = saslSetting(flags, info.env);
  const sasl = ownSasl ?? storedSasl(layers);
  const writes = writeRules(reader, profile);
  return {
    session: { ...sessionSettings(reader), readOnly: writes.readOnly !== undefined },
    environment: {
      ...passedOn(flags),
      ...tlsEnvironment(flags, info.env),
      ...saslEnvironment(ownSasl),
      // A program that we run reads the same settings file, or none as well.
      ...(profile && { ZKSH_PROFILE: profile.name }),
      ...(reader.isOn("no-config") && { ZKSH_NO_CONFIG: "1" }),
    },
    files: { ...fileSettings(reader), ...tlsFiles(flags, info.env, layers) },
    tls: tlsSetting(reader),
    javaTls: javaTls(info.env),
    sasl,
    output: outputFormat(flags, info),
    color: reader.choice("color", COLOR_CHOICES) ?? "auto",
    isEmbedded,
    isDefaultServer: !isEmbedded && reader.text("server") === undefined,
    script: reader.text("command"),
    scriptFile: reader.text("file"),
    keepsGoing: reader.isOn("keep-going"),
    isYes: reader.isOn("yes"),
    isNoInput: reader.isOn("no-input"),
    isQuiet: reader.isOn("quiet"),
    isVerbose: reader.isOn("verbose"),
    isDebug: reader.isOn("debug"),
    hasPager: !reader.isOn("no-pager"),
    profile,
    writes,
    allowsWrites: reader.isOn("write"),
    habits: info.file?.habits ?? {},
    reader,
  };
}

/** ZKSH_SERVER may be there for other commands; --server together with --embedded is a mistake. */
function refuseOtherServers(flags: GlobalFlags): void {
  const other = globalOptions.find(
    ({ name }) =>
      /^(server|profile|tls|client-conf|zk-tls|sasl|jaas|keytab|principal|keeper)/.test(name) &&
      flags[name] !== undefined,
  );
  if (other) throw new UsageError(`--embedded cannot be combined with ${globalSpelling(other)}`);
}

/** Programs inherit the environment anyway, but not our command line. */
function passedOn(flags: GlobalFlags): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const option of globalOptions) {
    const value = flags[option.name]?.at(-1);
    if (!("isPassedOn" in option) || value === undefined) continue;
    // A program may run in another directory.
    variables[option.env] = "value" in option && option.value === "FILE" ? resolve(value) : value;
  }
  return variables;
}

const OUTPUT_FORMATS = ["text", "json", "zkcli"] as const;
const COLOR_CHOICES = ["auto", "always", "never"] as const;

/** The settings of one line, whose own options win over the program's. Throws UsageError. */
export function lineSettings(program: Settings, flags: GlobalFlags): Settings {
  const line = new SettingReader(flags, {});
  const isQuiet = line.toggle("quiet");
  const isVerbose = line.toggle("verbose");
  return {
    ...program,
    output: line.choice("output", OUTPUT_FORMATS) ?? (line.isOn("json") ? "json" : program.output),
    color: line.choice("color", COLOR_CHOICES) ?? program.color,
    isYes: line.toggle("yes") ?? program.isYes,
    // A line that asks for more does not stay quiet because the program was started so, nor the
    // other way round.
    isQuiet: isQuiet ?? (program.isQuiet && !isVerbose),
    isVerbose: isVerbose ?? (program.isVerbose && !isQuiet),
    isDebug: line.toggle("debug") ?? program.isDebug,
    hasPager: program.hasPager && !line.isOn("no-pager"),
    writes: line.isOn("write") ? program.writes.allowed() : program.writes,
    allowsWrites: program.allowsWrites || line.isOn("write"),
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
export function outputFormat(
  flags: GlobalFlags,
  { env, programName, file }: ProcessInfo,
): OutputFormat {
  const asked = new SettingReader(flags, {});
  const onLine =
    asked.choice("output", OUTPUT_FORMATS) ?? (asked.isOn("json") ? "json" : undefined);
  if (onLine) return onLine;
  if (["zkcli", "zkcli.sh"].includes(programName.toLowerCase())) return "zkcli";
  const inherited = new SettingReader({}, env, layersOf(undefined, file));
  return inherited.choice("output", OUTPUT_FORMATS) ?? "text";
}

function sessionSettings(reader: SettingReader): SessionOptions {
  const timeoutMs = reader.duration("timeout") ?? 30_000;
  const isPatient = reader.isOn("waitforconnection");
  const asked = reader.duration("connect-timeout") ?? (isPatient ? timeoutMs : undefined);
  const maxReplyBytes = reader.size("max-reply");
  const maxRequestBytes = reader.size("max-request") ?? JUTE_MAXBUFFER;
  return {
    ...parseConnectString(reader.text("server") ?? "localhost:2181"),
    timeoutMs,
    connectTimeoutMs: asked ?? 10_000,
    // A refused connection rarely recovers soon; an explicit time means that a server is about to
    // start.
    refusedTimeoutMs: asked ?? 1_000,
    readOnly: reader.isOn("read-only"),
    ...(maxReplyBytes !== undefined && { maxReplyBytes }),
    maxRequestBytes,
    auth: reader.all("auth").map((text) => parseAuth(text, "--auth")),
  };
}

function fileSettings(reader: SettingReader): Omit<SettingFiles, keyof TlsFiles> {
  const files = {
    auth: reader.text("auth-file"),
    keeperPassword: reader.text("keeper-password-file"),
  };
  return Object.fromEntries(Object.entries(files).filter(([, path]) => path !== undefined));
}

export function parseAuth(text: string, where: string): { scheme: string; credential: Buffer } {
  const colon = text.indexOf(":");
  // The text is a secret, so the message must not repeat it.
  if (colon <= 0)
    throw new UsageError(`no scheme in ${where}`, {
      hint: "use SCHEME:CREDENTIAL, for example digest:USER:PASSWORD",
    });
  return { scheme: text.slice(0, colon), credential: Buffer.from(text.slice(colon + 1)) };
}
