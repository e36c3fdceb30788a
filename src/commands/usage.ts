import type { Argument } from "./arguments.ts";
import type { AnyCommand } from "./command.ts";

/** The line zkCli calls a command's usage: `create [-s] [-e] [-t ttl] path [data]`. */
export function usage(name: string, command: AnyCommand): string {
  const options = Object.values<AnyCommand["options"][string]>(command.options).map((option) =>
    option.kind === "flag" ? `[${option.short}]` : `[${option.short} ${option.placeholder}]`,
  );
  const args = Object.entries<Argument<unknown>>(command.args).map(([key, arg]) => argumentTerm(key, arg));
  return [name, ...options, ...args].join(" ");
}

/** How an argument is written in a usage line. */
export function argumentTerm(key: string, { arity }: Argument<unknown>): string {
  return arity === "required" ? key : arity === "optional" ? `[${key}]` : `[${key}...]`;
}

/** An option's long name: its key in kebab-case. */
export function longName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
