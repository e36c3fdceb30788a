/** Which profile of the settings file is in use, and what it forbids. */
import { UsageError } from "../errors.ts";
import { WriteRules } from "../session/write-rules.ts";
import { didYouMean } from "../text/suggest.ts";
import type { GlobalFlags } from "./global-options.ts";
import { SettingReader, type Variables } from "./setting-reader.ts";
import {
  type Profile,
  type SettingsFile,
  type StoredLayer,
  settingsPath,
} from "./stored-settings.ts";

/** The profile in use. */
export interface ChosenProfile extends Profile {
  /** Where its name was given: `option --profile`. */
  readonly origin: string;
  /**
   * The environment as far as it counts: a profile that was named on the command line says which
   * servers are meant, whatever ZKSH_SERVER says.
   */
  variables(env: Variables): Variables;
}

interface Source {
  readonly env: Variables;
  readonly file?: SettingsFile | undefined;
}

/**
 * The profile that the command line names, or else the environment, or else the file: the file's is
 * for lines that name no servers. Throws UsageError for a profile that is not in the file.
 */
export function chooseProfile(flags: GlobalFlags, source: Source): ChosenProfile | undefined {
  const { env, file } = source;
  const given = new Set(flags.profile ?? []);
  if (given.size > 1)
    throw new UsageError(`two profiles were given: ${[...given].join(" and ")}`, {
      hint: "use one of them; @NAME:/PATH is a place on the servers of another",
    });
  const namesServers = new SettingReader(flags, env).origin("server") !== undefined;
  const stored = file && !namesServers ? [file.defaults] : [];
  const named = new SettingReader(flags, env, stored).origin("profile");
  if (named === undefined) return undefined;
  const isLeftOut = new SettingReader(flags, env).isOn("no-config");
  const profile = findProfile(named.value.replace(/^@/, ""), { ...source, isLeftOut });
  const isOnLine = given.size > 0;
  return {
    ...profile,
    origin: named.origin,
    variables: (variables) =>
      isOnLine && profile.options.values.has("server")
        ? { ...variables, ZKSH_SERVER: undefined }
        : variables,
  };
}

/** Throws UsageError for a profile that is not in the file. */
function findProfile(
  name: string,
  { env, file, isLeftOut }: Source & { readonly isLeftOut: boolean },
): Profile {
  const found = file?.profiles.get(name);
  if (found) return found;
  const why = isLeftOut
    ? "--no-config or ZKSH_NO_CONFIG leaves the settings file out"
    : file
      ? `${file.path} does not have it`
      : "there is no settings file";
  throw new UsageError(`unknown profile ${name}: ${why}`, {
    reason: "unknown-profile",
    hint:
      didYouMean(name, file?.profiles.keys() ?? []) ??
      (isLeftOut ? "use the file, or name the servers with --server" : example(name, env)),
  });
}

function example(name: string, env: Variables): string {
  const path = settingsPath(env);
  if (path === undefined) return "the settings file is below HOME, which is not set";
  const profiles = { profiles: { [name]: { server: "HOST:2181" } } };
  return `write it to ${path}: ${JSON.stringify(profiles)}`;
}

/** The parts of the file that count, the first before the second. */
export function layersOf(
  profile: Profile | undefined,
  file: SettingsFile | undefined,
): readonly StoredLayer[] {
  return [...(profile ? [profile.options] : []), ...(file ? [file.defaults] : [])];
}

/** What may be written. --write lifts what the settings file forbids, never --read-only. */
export function writeRules(reader: SettingReader, profile: Profile | undefined): WriteRules {
  const origin = reader.isOn("read-only") ? reader.origin("read-only") : undefined;
  const isOwnWish = /^(option|environment) /.test(origin?.origin ?? "");
  if (isOwnWish && reader.isOn("write"))
    throw new UsageError(`${origin?.source} and --write contradict each other`, {
      hint: "remove one of them",
    });
  const rules = new WriteRules({
    ...(origin && { readOnly: { by: isOwnWish ? origin.source : origin.origin, isOwnWish } }),
    ...(profile && { protect: { by: `profile ${profile.name}`, globs: profile.protect } }),
    wantsPathTyped: profile?.confirms ?? false,
  });
  return reader.isOn("write") ? rules.allowed() : rules;
}
