/** The settings in use, for `settings`: what each is, and where it comes from. */
import type { SettingRow } from "../results/shell.ts";
import { type GlobalName, type GlobalOption, globalOptions } from "./global-options.ts";
import { pagerSetting } from "./pager-setting.ts";
import type { Variables } from "./setting-reader.ts";
import type { Settings } from "./settings.ts";
import type { SettingsFile } from "./stored-settings.ts";

/** What holds where nothing is set. Other options are not listed then. */
const DEFAULTS: { readonly [Name in GlobalName]?: string } = {
  server: "localhost:2181",
  timeout: "30s",
  "connect-timeout": "10s",
  "read-only": "false",
  output: "text",
  color: "auto",
};

/** Those whose value is that of the line that asks. */
const NOT_LISTED: readonly string[] = ["command", "file", "json", "waitforconnection", "auth"];

/** Never shows a password. */
export function describeSettings(
  { reader, profile, habits, isEmbedded }: Settings,
  file: SettingsFile | undefined,
  env: Variables,
): SettingRow[] {
  const options: readonly GlobalOption[] = globalOptions;
  const rows = options
    .filter(({ name }) => !NOT_LISTED.includes(name) && !(isEmbedded && name === "server"))
    .flatMap((option) => optionRow(option, reader));
  const owner = profile && `profile ${profile.name}`;
  const stored = "the settings file";
  const pager = pagerSetting(env, habits);
  const own = (name: string, value: unknown, origin: string | undefined): SettingRow[] =>
    value === undefined || origin === undefined ? [] : [{ name, value: String(value), origin }];
  return [
    ...rows,
    ...own("label", profile?.label, owner),
    ...own("colour", profile?.colour, owner),
    ...own("protect", profile?.protect.length ? profile.protect.join(" ") : undefined, owner),
    ...own("confirm", profile?.confirms || undefined, owner),
    { name: "pager", value: String(pager.value), origin: pager.origin },
    // 0 is how false is kept.
    ...own("history", habits.history === 0 ? false : habits.history, stored),
    ...own("undo", habits.undo === 0 ? false : habits.undo, stored),
    ...Array.from(file?.aliases ?? [], ([name, value]) => ({
      name: `aliases.${name}`,
      value,
      origin: stored,
    })),
  ];
}

function optionRow({ name, value: term }: GlobalOption, reader: Settings["reader"]): SettingRow[] {
  const found = reader.origin(name as GlobalName);
  if (found) {
    const { origin } = found;
    const value = term === undefined ? String(reader.isOn(name as GlobalName)) : found.value;
    return [{ name, value: withoutPassword(name, value), origin }];
  }
  const value = DEFAULTS[name as GlobalName];
  return value === undefined ? [] : [{ name, value, origin: "default" }];
}

function withoutPassword(name: string, value: string): string {
  if (/(^|-)password$/.test(name)) return "***";
  if (name !== "sasl") return value;
  const [mechanism = "", user = "", ...password] = value.split(":");
  return password.length > 0 ? `${mechanism}:${user}:***` : value;
}
