/** Reads single settings from the command line, the environment and the settings file. */

import { UsageError } from "../errors.ts";
import { isTimeout, parseDuration, TIMEOUT_RANGE } from "../text/duration.ts";
import { parseSize } from "../text/size.ts";
import {
  type GlobalFlags,
  type GlobalName,
  type GlobalOption,
  globalOptions,
  globalSpelling,
} from "./global-options.ts";
import type { StoredLayer } from "./stored-settings.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Looks a setting up on the command line, then in the environment, in the profile and in the rest of
 * the settings file; failures name the place it came from.
 */
export class SettingReader {
  readonly #options = new Map<string, GlobalOption>(
    globalOptions.map((option) => [option.name, option]),
  );
  readonly #flags: GlobalFlags;
  readonly #env: Variables;
  readonly #stored: readonly StoredLayer[];

  /** Of the layers of the settings file the first wins. */
  constructor(flags: GlobalFlags, env: Variables, stored: readonly StoredLayer[] = []) {
    this.#flags = flags;
    this.#env = env;
    this.#stored = stored;
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
    return found && parseToggle(found);
  }

  /** Every value of a switch: those on the command line, and all that are inherited. */
  toggles(name: GlobalName): { readonly isOn: boolean; readonly source: string }[] {
    return this.#findAll(name).map((found) => ({ isOn: parseToggle(found), source: found.source }));
  }

  /** The value that counts, as it was written, and where. */
  origin(name: GlobalName): Found | undefined {
    return this.#find(name);
  }

  /** Where a setting was given. */
  sources(name: GlobalName): string[] {
    return this.#findAll(name).map(({ source }) => source);
  }

  choice<const Choice extends string>(
    name: GlobalName,
    choices: readonly Choice[],
  ): Choice | undefined {
    const found = this.#find(name);
    if (!found) return undefined;
    const choice = choices.find((candidate) => candidate === found.value);
    if (choice !== undefined) return choice;
    throw new UsageError(`bad value '${found.value}' for ${found.source}`, {
      hint: `use one of ${choices.join(", ")}`,
    });
  }

  /** Milliseconds: more than 0, and within ZooKeeper's 32 bits. */
  duration(name: GlobalName): number | undefined {
    const found = this.#find(name);
    if (!found) return undefined;
    const ms = parsed(parseDuration, found, "duration");
    if (isTimeout(ms)) return ms;
    throw new UsageError(`bad duration '${found.value}' for ${found.source}`, {
      hint: TIMEOUT_RANGE,
    });
  }

  /** Bytes: below 1 KB no reply would fit, and ZooKeeper's lengths end at 2 GB. */
  size(name: GlobalName): number | undefined {
    const found = this.#find(name);
    if (!found) return undefined;
    const bytes = parsed(parseSize, found, "size");
    if (bytes >= 1024 && bytes < 2 ** 31) return bytes;
    throw new UsageError(`bad size '${found.value}' for ${found.source}`, {
      hint: "use a size from 1k to less than 2g",
    });
  }

  /** The last value on the command line, or else the first that is inherited. */
  #find(name: GlobalName): Found | undefined {
    const value = this.#flags[name]?.at(-1);
    const option = this.#options.get(name);
    if (option && value !== undefined) return onLine(option, value);
    return option && this.#inherited(option)[0];
  }

  #findAll(name: GlobalName): Found[] {
    const option = this.#options.get(name);
    if (!option) return [];
    return [...this.all(name).map((value) => onLine(option, value)), ...this.#inherited(option)];
  }

  #inherited({ name, env }: GlobalOption): Found[] {
    const value = env === undefined ? undefined : this.#env[env];
    const variable = value
      ? [{ value, source: env ?? "", origin: `environment ${env}` } as const]
      : [];
    const stored = this.#stored.flatMap(({ name: layer, values }) => {
      const found = values.get(name);
      return found
        ? [{ value: found.value, source: `${found.key} of ${layer}`, origin: layer }]
        : [];
    });
    return [...variable, ...stored];
  }
}

function onLine(option: GlobalOption, value: string): Found {
  const source = globalSpelling(option);
  return { value, source, origin: `option ${source}` };
}

interface Found {
  readonly value: string;
  /** For messages: the option, the variable, or the key in the settings file. */
  readonly source: string;
  /** The layer: `option --server`, `environment ZKSH_SERVER`, `profile prod`. */
  readonly origin: string;
}

function parseToggle({ value, source }: Found): boolean {
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  if (/^(0|false|no|off)$/i.test(value)) return false;
  throw new UsageError(`bad value '${value}' for ${source}`, { hint: "use 1 or 0" });
}

function parsed(parse: (text: string) => number, { value, source }: Found, what: string): number {
  try {
    return parse(value);
  } catch (cause) {
    const hint = cause instanceof UsageError ? cause.hint : undefined;
    if (cause instanceof UsageError && cause.reason === "no-unit")
      throw new UsageError(`${source}: ${cause.message}`);
    throw new UsageError(`bad ${what} '${value}' for ${source}`, {
      cause,
      ...(hint !== undefined && { hint }),
    });
  }
}
