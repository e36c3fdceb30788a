/** What is said of the shell, its session and the ensemble behind it. */

import type { Stat } from "../session/session.ts";

/** Where relative paths start now. */
interface WorkingZnodeResult {
  readonly kind: "working-znode";
  readonly path: string;
  /** It was not asked for: it has just been changed. */
  readonly hasMoved: boolean;
}

/** A session that was asked for by name. */
export interface ConnectedResult {
  readonly kind: "connected";
  readonly server: string;
  readonly sessionId: bigint;
  readonly isReadOnly: boolean;
}

interface DisconnectedResult {
  readonly kind: "disconnected";
}

/** Earlier lines with their numbers, oldest first. */
interface HistoryResult {
  readonly kind: "history";
  readonly entries: readonly { readonly number: number; readonly line: string }[];
}

/** An ensemble's configuration: the text of /zookeeper/config. */
export interface ConfigResult {
  readonly kind: "config";
  readonly text: string;
  readonly stat: Stat;
  readonly withStat: boolean;
  /** Only its version and where clients connect to. */
  readonly isBrief: boolean;
  /** It has just been put into effect. */
  readonly isNew: boolean;
}

/** A server in memory accepts connections. */
interface ServingResult {
  readonly kind: "serving";
  readonly address: string;
  /** Who can connect: every user of this machine, or the whole network. */
  readonly reach: "machine" | "network";
}

/** The command goes on, but there is a risk. */
interface WarningResult {
  readonly kind: "warning";
  readonly reason: string;
  readonly message: string;
}

/** A setting in use, under the name of its option or its key in the settings file. */
export interface SettingRow {
  readonly name: string;
  readonly value: string;
  /** `option --server`, `environment ZKSH_SERVER`, `profile prod`, `the settings file`, `default`. */
  readonly origin: string;
}

interface SettingsResult {
  readonly kind: "settings";
  readonly rows: readonly SettingRow[];
  /** The settings file; undefined where there is none. */
  readonly file: string | undefined;
  readonly showsOrigin: boolean;
}

export type ShellResult =
  | SettingsResult
  | WorkingZnodeResult
  | ConnectedResult
  | DisconnectedResult
  | HistoryResult
  | ConfigResult
  | ServingResult
  | WarningResult;
