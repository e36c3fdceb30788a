import type { Argument, Option } from "./arguments.ts";
import type { AnyCommand } from "./command.ts";

/** The line zkCli calls a command's usage: `create [-s] [-e] [-t ttl] path [data]`. */
export function usage(name: string, command: AnyCommand): string {
  const own = Object.entries<Option<unknown>>(command.options).filter(
    ([, { topic }]) => topic === undefined,
  );
  const options = own.map(([key, option]) => {
    const name = option.short || longName(key);
    return option.kind === "flag" ? `[${name}]` : `[${name} ${option.placeholder}]`;
  });
  const args = Object.entries<Argument<unknown>>(command.args).map(([key, arg]) =>
    argumentTerm(key, arg),
  );
  return [name, ...options, ...args].join(" ");
}

/** How an argument is written in a usage line. */
export function argumentTerm(key: string, { arity }: Argument<unknown>): string {
  if (arity === "command") return `[-- ${key}...]`;
  return arity === "required" ? key : arity === "optional" ? `[${key}]` : `[${key}...]`;
}

/** All names of an option: `-s, --stat`. Not every option has a short one. */
export function spelling(key: string, { short }: Option<unknown>): string {
  return short === "" ? longName(key) : `${short}, ${longName(key)}`;
}

/** As a help page shows it: `-w, --wait dur`. */
export function optionTerm(key: string, option: Option<unknown>): string {
  return `${spelling(key, option)}${option.kind === "value" ? ` ${option.placeholder}` : ""}`;
}

/** An option's long name: its key in kebab-case. */
export function longName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
