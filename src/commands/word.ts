import { ConnectionError, PartialError, UsageError, type ZkshError } from "../errors.ts";
import { SERVER_WORDS } from "../recipes/servers/words.ts";
import type { Result } from "../results/result.ts";
import { formatAddress } from "../session/connect-string.ts";
import type { WordAnswer } from "../session/four-letter-word.ts";
import type { ServerAddress } from "../session/options.ts";
import { flag, required } from "./arguments.ts";
import { offering } from "./choices.ts";
import { type Context, defineCommand } from "./command.ts";
import { hintOf, noAnswer, wordError } from "./word-failures.ts";

const fourLetters = offering<string>(SERVER_WORDS, (text) => {
  // Also words that are not in our list: newer releases and other servers have more.
  if (/^[a-z]{4}$/.test(text)) return text;
  throw new UsageError(`'${text}' is not a four-letter word`, {
    hint: `use four lower-case letters: ${SERVER_WORDS.join(" ")}`,
  });
});

export const word = defineCommand({
  details:
    "At the prompt word asks the server of the session, else the first of the list that answers; " +
    "it needs no session and no quorum. In a pipe the answer is exact; with --all each begins with the line " +
    "==> SERVER <==. Servers from 3.5 answer only srvr, unless 4lw.commands.whitelist in zoo.cfg " +
    "allows more; exit code 1: refused. crst and srst reset statistics of the server.",
  examples: ["word srvr", "word mntr --all", "word cons --json"],
  effect: "read",
  args: { word: required(fourLetters, "such as srvr, mntr, cons, dump, conf or ruok") },
  options: { all: flag("-a", "ask every server of the list") },
  run(context, { word: asked }, { all }) {
    return all ? askAll(context, asked) : askOne(context, asked);
  },
});

interface Asked {
  readonly server: string;
  readonly answer: WordAnswer;
}

async function ask({ servers }: Context, server: ServerAddress, word: string): Promise<Asked> {
  return { server: formatAddress(server), answer: await servers.ask(server, word) };
}

/** A refusal by the whitelist is an answer: the other servers are not asked. */
async function askOne(context: Context, word: string): Promise<Result> {
  const { servers } = await context.servers.options();
  const attached = context.servers.attached();
  const failures: ZkshError[] = [];
  for (const server of attached === undefined ? servers : [attached]) {
    const { server: name, answer } = await ask(context, server, word);
    if (answer.kind === "answered") return answered(name, word, answer, false);
    const error = wordError(name, word, answer);
    if (!(error instanceof ConnectionError)) throw error;
    failures.push(error);
  }
  throw noAnswer(`no server answered ${word}`, failures);
}

async function* askAll(context: Context, word: string): AsyncGenerator<Result> {
  const { servers } = await context.servers.options();
  // All at once: each of those that are down takes seconds.
  const asked = servers.map((server) => ask(context, server, word));
  for (const one of asked) one.catch(() => {});
  const failures: ZkshError[] = [];
  for (const one of asked) {
    const { server, answer } = await one;
    if (answer.kind === "answered") yield answered(server, word, answer, true);
    else {
      const error = wordError(server, word, answer);
      failures.push(error);
      yield { kind: "server-failed", server, error };
    }
  }
  if (failures.length === 0) return;
  const message = `${failures.length} of ${servers.length} servers did not answer ${word}`;
  if (failures.length === servers.length) throw noAnswer(message, failures);
  throw new PartialError("partial", message, hintOf(failures));
}

function answered(
  server: string,
  word: string,
  { bytes, ms }: Extract<WordAnswer, { readonly kind: "answered" }>,
  isOneOfMany: boolean,
): Result {
  return { kind: "word-answer", server, word, bytes, timeMs: ms, isOneOfMany };
}
