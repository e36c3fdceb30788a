import { type GlobalFlags, type GlobalOption, globalOptions } from "./global-options.ts";
import type { Variables } from "./setting-reader.ts";
import { type ProcessInfo, readSettings, type Settings } from "./settings.ts";

/**
 * The settings for other servers than those that the program was started with. For `@NAME` only the
 * settings file counts, of all that says how to connect: the options of the command line are for
 * the servers named there. Other servers are reached without the profile in use.
 */
export function settingsElsewhere(
  target: string,
  program: Settings,
  { flags, ...info }: ProcessInfo & { readonly flags: GlobalFlags },
): Settings {
  if (target.startsWith("@")) {
    const { flags: kept, env } = withoutConnection(flags, info.env);
    return readSettings({ ...kept, profile: [target] }, { ...info, env });
  }
  if (program.profile === undefined) return program;
  const { profile: _, ...others } = flags;
  const { file } = info;
  const defaults = file && {
    ...file.defaults,
    values: new Map([...file.defaults.values].filter(([name]) => name !== "profile")),
  };
  return readSettings(others, {
    ...info,
    env: { ...info.env, ZKSH_PROFILE: undefined },
    ...(file && defaults && { file: { ...file, defaults } }),
  });
}

/** What is left without the options that a profile can have, and without --embedded and --auth. */
function withoutConnection(
  flags: GlobalFlags,
  env: Variables,
): { readonly flags: GlobalFlags; readonly env: Variables } {
  const options: readonly GlobalOption[] = globalOptions;
  const left = options.filter(
    ({ name, storedIn }) =>
      storedIn === undefined || ["embedded", "auth", "waitforconnection"].includes(name),
  );
  const without = <T>(
    values: Readonly<Record<string, T>>,
    names: readonly (string | undefined)[],
  ) => Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
  return {
    flags: without(
      flags,
      left.map(({ name }) => name),
    ),
    env: without(
      env,
      left.map((option) => option.env),
    ),
  };
}
