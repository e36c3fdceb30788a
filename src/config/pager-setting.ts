/** The pager that is in use, and where it comes from. */
import type { Variables } from "./setting-reader.ts";
import type { Habits } from "./stored-settings.ts";

/** Colours pass, short output stays, and nothing is cleared. */
const DEFAULT_PAGER = "less -FRX";

interface PagerSetting {
  /** A command line; false for none. */
  readonly value: string | false;
  readonly origin: string;
}

/** ZKSH_PAGER and PAGER win over the settings file. */
export function pagerSetting(env: Variables, { pager }: Habits): PagerSetting {
  for (const name of ["ZKSH_PAGER", "PAGER"]) {
    const value = env[name];
    if (value !== undefined) return { value: commandOf(value), origin: `environment ${name}` };
  }
  if (pager === undefined) return { value: DEFAULT_PAGER, origin: "default" };
  return { value: pager && commandOf(pager), origin: "the settings file" };
}

function commandOf(text: string): string | false {
  const command = text.trim();
  return command === "" || command === "cat" ? false : command;
}
