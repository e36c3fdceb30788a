/** Errors about four-letter words that a server did not answer. */
import { ConnectionError, OperationError, type ZkshError } from "../errors.ts";
import { SERVER_WORDS } from "../recipes/servers/words.ts";
import type { WordAnswer } from "../session/four-letter-word.ts";

type WordRefusal = Exclude<WordAnswer, { readonly kind: "answered" }>;

/** `server` is how the server is named in messages. */
export function wordError(server: string, word: string, refusal: WordRefusal): ZkshError {
  if (refusal.kind === "not-allowed") return notAllowed(server, [word]);
  if (refusal.why === "closed" && !SERVER_WORDS.includes(word)) {
    return new OperationError("unknown-word", `${server} does not know the word ${word}`, {
      hint: `ZooKeeper knows ${SERVER_WORDS.join(" ")}`,
    });
  }
  return new ConnectionError("unreachable", `${server}: ${refusal.says}`, {
    ...(refusal.why === "expects-tls" && { tlsProblem: "tls-expected" }),
    ...(refusal.why === "closed" && {
      hint: `ClickHouse Keeper hangs up on words that are not in its four_letter_word_white_list`,
    }),
    ...(refusal.why === "not-tls" && {
      hint: "leave out --tls, or give the server's secureClientPort",
    }),
  });
}

export function notAllowed(server: string, words: readonly string[]): OperationError {
  const all = words.join(" and ");
  const message = `${server} does not allow ${all}: not in its 4lw.commands.whitelist`;
  return new OperationError("word-not-allowed", message, { hint: whitelistLine(words) });
}

export function whitelistLine(words: readonly string[]): string {
  const line = ["srvr", ...words.filter((word) => word !== "srvr")].join();
  return `add to zoo.cfg on each server, and restart it: 4lw.commands.whitelist=${line}`;
}

/** The error where no server has answered; `message` begins it when there are several. */
export function noAnswer(message: string, failures: readonly ZkshError[]): ZkshError {
  const [first] = failures;
  if (first !== undefined && failures.length === 1) return first;
  const reasons = failures.map((failure) => failure.message).join("; ");
  // A server that refuses can be reached, but those that cannot are the more urgent failure.
  const unreachable = failures.find((failure) => failure instanceof ConnectionError);
  if (first !== undefined && unreachable === undefined)
    return new OperationError(first.reason, `${message}: ${reasons}`, hintOf(failures));
  return new ConnectionError("unreachable", `${message}: ${reasons}`, {
    tlsProblem: unreachable?.tlsProblem,
    ...hintOf(failures),
  });
}

/** The first hint that any of the errors has. */
export function hintOf(failures: readonly ZkshError[]): { hint?: string } {
  const hint = failures.find((failure) => failure.hint !== undefined)?.hint;
  return hint === undefined ? {} : { hint };
}
