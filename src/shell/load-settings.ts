/** Reads the settings file at the start of the program. */
import type { Program } from "../commands/command.ts";
import { SettingReader } from "../config/setting-reader.ts";
import { type SettingsFile, settingsPath } from "../config/stored-settings.ts";
import { openSettingsWarning, type Warning } from "../config/warnings.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io/io.ts";
import type { Aliases } from "./aliases.ts";
import type { Services } from "./runtime.ts";

export interface Stored {
  readonly file?: SettingsFile | undefined;
  /** To be thrown once it is known how errors are shown. */
  readonly mistake?: UsageError;
  readonly warnings: readonly Warning[];
}

/** The settings file, without which the program starts with --no-config. */
export async function loadStored(
  argv: readonly string[],
  io: Io,
  services: Services,
): Promise<Stored> {
  const path = settingsPath(io.env);
  const end = argv.indexOf("--");
  const isLeftOut =
    argv.slice(0, end < 0 ? argv.length : end).includes("--no-config") ||
    new SettingReader({}, io.env).isOn("no-config");
  if (path === undefined || isLeftOut) return { warnings: [] };
  try {
    const found = await services.readSettingsFile?.(path);
    if (found === undefined) return { warnings: [] };
    // Most users have no settings file.
    const { readSettingsFile } = await import("../config/file/read-settings-file.ts");
    const file = readSettingsFile({ text: found.text, path, home: io.env.HOME });
    const isRisky = found.isWritableByOthers || (file.hasSecrets && found.isReadableByOthers);
    const what = found.isWritableByOthers ? "change" : "read";
    return { file, warnings: isRisky ? [openSettingsWarning(path, what)] : [] };
  } catch (cause) {
    if (cause instanceof UsageError) return { mistake: cause, warnings: [] };
    const why = cause instanceof Error ? cause.message : String(cause);
    const hint = "--no-config starts zksh without the settings file";
    const mistake = new UsageError(`cannot read the settings file: ${why}`, { cause, hint });
    return { mistake, warnings: [] };
  }
}

export async function loadAliases(
  { commands }: Program,
  file: SettingsFile | undefined,
): Promise<Aliases | undefined> {
  if (!file || file.aliases.size === 0) return undefined;
  const { Aliases } = await import("./aliases.ts");
  return new Aliases(commands, file.aliases);
}

export function shadowWarnings(aliases: Aliases | undefined): readonly Warning[] {
  return (aliases?.shadowed ?? []).map((name) => ({
    kind: "warning",
    reason: "shadowed-alias",
    message: `the alias ${name} of the settings file is not used: ${name} is a command`,
  }));
}
