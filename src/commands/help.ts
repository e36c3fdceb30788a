import { UsageError } from "../errors.ts";
import type { CommandHelpResult, HelpResult } from "../result.ts";
import { type Argument, type Option, optional, word } from "./arguments.ts";
import { type CommandEntry, type CommandGroup, defineCommand, findCommand, type Program } from "./command.ts";
import { argumentTerm, spelling, usage } from "./usage.ts";

const TITLES: Readonly<Record<CommandGroup, string>> = {
  znodes: "Znodes",
  access: "Access",
  watches: "Watches",
  quotas: "Quotas",
  server: "Servers",
  shell: "Shell",
};

export const help = defineCommand({
  examples: ["help", "help create"],
  effect: "none",
  args: { command: optional(word, "the command to show in full") },
  options: {},
  async run({ program }, { command: name }) {
    if (name === undefined) return overview(program);
    const entry = findCommand(program.commands, name);
    if (!entry) throw new UsageError(`unknown command '${name}'`, { hint: "help lists all commands" });
    return manual(entry);
  },
});

function overview(program: Program): HelpResult {
  const groups = Object.entries(TITLES)
    .map(([group, title]) => ({
      title,
      rows: program.commands
        .filter((entry) => entry.group === group)
        .map(({ name, summary }) => ({ term: name, summary })),
    }))
    .filter(({ rows }) => rows.length > 0);
  return { kind: "help", groups: [...groups, { title: "Global options", rows: program.globalOptions }] };
}

async function manual(entry: CommandEntry): Promise<CommandHelpResult> {
  const command = await entry.load();
  return {
    kind: "command-help",
    name: entry.name,
    aliases: entry.aliases ?? [],
    summary: entry.summary,
    usage: usage(entry.name, command),
    ...(command.details !== undefined && { details: command.details }),
    args: Object.entries<Argument<unknown>>(command.args).map(([key, arg]) => ({
      term: argumentTerm(key, arg),
      summary: arg.summary,
    })),
    options: Object.entries<Option<unknown>>(command.options).map(([key, option]) => ({
      term: `${spelling(key, option)}${option.kind === "value" ? ` ${option.placeholder}` : ""}`,
      summary: option.summary,
    })),
    examples: command.examples,
  };
}
