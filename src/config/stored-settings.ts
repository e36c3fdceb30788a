/** What the settings file says, once it has been read and checked. */
import type { LabelColour } from "../render/theme.ts";

export interface SettingsFile {
  readonly path: string;
  /** Options that hold for every profile and without one. */
  readonly defaults: StoredLayer;
  readonly profiles: ReadonlyMap<string, Profile>;
  /** Lines by the word that stands for them. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly habits: Habits;
  /** A reader of the file could log in with it. */
  readonly hasSecrets: boolean;
}

/** Options of the program by their names, from one part of the file. */
export interface StoredLayer {
  /** `profile prod`, or `the settings file`. */
  readonly name: string;
  readonly values: ReadonlyMap<string, StoredValue>;
}

export interface StoredValue {
  readonly value: string;
  /** As it is written in the file: `tls.ca`. */
  readonly key: string;
}

export interface Profile {
  readonly name: string;
  readonly options: StoredLayer;
  /** A word for the prompt. */
  readonly label?: string | undefined;
  readonly colour?: LabelColour | undefined;
  /** Globs of znodes that are not written to; what is below them is protected too. */
  readonly protect: readonly string[];
  /** Questions before destructive commands want the path typed instead of yes. */
  readonly confirms: boolean;
}

/** Settings that are no options of the program. Undefined: the default. */
export interface Habits {
  /** The command line of the pager; false for none. */
  readonly pager?: string | false;
  /** The number of lines that the history keeps; 0 for none. */
  readonly history?: number;
  /** The bytes that `undo` keeps of one command at most; 0 for nothing. */
  readonly undo?: number;
}

/** Where the file is; undefined without a home directory. */
export function settingsPath({
  XDG_CONFIG_HOME: config,
  HOME: home,
}: Readonly<Record<string, string | undefined>>): string | undefined {
  // XDG: a relative path is to be ignored.
  if (config?.startsWith("/")) return `${config.replace(/\/+$/, "")}/zksh/config.json`;
  return home ? `${home}/.config/zksh/config.json` : undefined;
}
