import type { Interview } from "../commands/command-input.ts";
import type { Io } from "../io/io.ts";
import { prompterFor } from "../io/prompter.ts";

/** Undefined without a terminal. `alone` gives the terminal to a question. */
export function interviewOn(
  io: Io,
  signal: AbortSignal,
  alone: <T>(ask: () => Promise<T>) => Promise<T> = (ask) => ask(),
): Interview | undefined {
  const prompter = prompterFor(io);
  if (prompter === undefined) return undefined;
  return {
    text: (question) => alone(() => prompter.text(question, signal)),
    confirm: (question) => alone(() => prompter.confirm(question, signal)),
    async choose(question, choices) {
      const names = choices.map(({ name }) => name);
      const index = await alone(() => prompter.choose(question, names, signal));
      const chosen = choices[index];
      if (!chosen) throw new Error(`choice ${index} of ${choices.length}`);
      return chosen.value;
    },
  };
}
