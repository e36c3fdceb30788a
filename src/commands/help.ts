import { UsageError } from "../errors.ts";
import type { CommandHelpResult, HelpRow } from "../results/help.ts";
import { type Argument, type Option, optional, word } from "./arguments.ts";
import { type CommandEntry, defineCommand, findCommand, type Program } from "./command.ts";
import { byGroup, topics } from "./topics/help-topics.ts";
import { argumentTerm, optionTerm, usage } from "./usage.ts";

export const help = defineCommand({
  examples: ["help", "help create", "help exit-codes"],
  effect: "none",
  args: { subject: optional(word, `a command, or ${topics.map(({ name }) => name).join(", ")}`) },
  options: {},
  async run({ program }, { subject }) {
    if (subject === undefined) {
      const pages = topics.map(({ name, summary }) => ({ term: `help ${name}`, summary }));
      const aliases = Array.from(program.aliases, ([term, summary]) => ({ term, summary }));
      return { kind: "help", groups: byGroup(program.commands), topics: pages, aliases };
    }
    const entry = findCommand(program.commands, subject);
    if (entry) return manual(entry);
    const topic = topics.find(({ name }) => name === subject);
    if (topic)
      return {
        kind: "topic",
        name: topic.name,
        summary: topic.summary,
        sections: topic.sections(program),
      };
    throw unknownSubject(subject, program);
  },
});

function unknownSubject(subject: string, { commands, suggest }: Program): UsageError {
  const names = [
    ...commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    ...topics.map(({ name }) => name),
  ];
  const like = suggest(subject, names);
  return new UsageError(`there is no help for '${subject}'`, {
    reason: "unknown-topic",
    hint: like === undefined ? "help lists all commands and topics" : `did you mean help ${like}?`,
  });
}

/** Options that a topic explains are counted in one row that names the topic. */
function optionRows(options: Readonly<Record<string, Option<unknown>>>): HelpRow[] {
  const entries = Object.entries(options);
  const row = ([key, option]: [string, Option<unknown>]): HelpRow => ({
    term: optionTerm(key, option),
    summary: option.summary,
  });
  const elsewhere = [...new Set(entries.flatMap(([, { topic }]) => topic ?? []))];
  return [
    ...entries.filter(([, { topic }]) => topic === undefined).map(row),
    ...elsewhere.map((topic) => ({
      term: "…",
      summary: `${entries.filter(([, option]) => option.topic === topic).length} more: help ${topic}`,
    })),
  ];
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
    options: optionRows(command.options),
    examples: command.examples,
  };
}
