import { escapeName, escapeText } from "../text/escape.ts";
import type { Failure } from "./renderer.ts";
import { zkcliUsage, zkcliUsageList } from "./zkcli-usage.ts";

const INVALID_ACL = -114;

/** zkCli's sentences; all others get KeeperException's text. */
const SENTENCES: Readonly<Record<number, string>> = {
  [-8]: "Arguments are not valid : ",
  [-101]: "Node does not exist: ",
  [-102]: "Insufficient permission : ",
  [-103]: "version No is not valid : ",
  [-108]: "Ephemerals cannot have children: ",
  [-110]: "Node already exists: ",
  [-111]: "Node not empty: ",
  [-114]: "Acl is not valid : ",
  [-119]: "Not a read-only call: ",
  [-125]: "Quota has exceeded : ",
};

const WITHOUT_PATH: Readonly<Record<number, string>> = {
  [-13]:
    "No quorum of new config is connected and up-to-date with the leader of last committed " +
    "config - " +
    "try invoking reconfiguration after new servers are connected and synced",
  [-14]: "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)",
};

/** KeeperException's word for a code. */
const KEEPER_MESSAGES: Readonly<Record<number, string>> = {
  [-1]: "SystemError",
  [-2]: "RuntimeInconsistency",
  [-3]: "DataInconsistency",
  [-4]: "ConnectionLoss",
  [-5]: "MarshallingError",
  [-6]: "Unimplemented",
  [-7]: "OperationTimeout",
  [-8]: "BadArguments",
  [-101]: "NoNode",
  [-102]: "NoAuth",
  [-103]: "BadVersion",
  [-112]: "Session expired",
  [-113]: "Invalid callback",
  [-114]: "InvalidACL",
  [-115]: "AuthFailed",
  [-118]: "Session moved",
  [-119]: "Not a read-only call",
  [-120]: "Ephemeral node on local session",
  [-121]: "No such watcher",
  [-123]: "Reconfig is disabled",
  [-124]: "Session closed because client failed to authenticate",
  [-127]: "Op throttled due to high load",
};

/** Failures that ZooKeeper's client finds itself, and has codes for. */
const CODES: Readonly<Record<string, number>> = {
  unreachable: -4,
  "connection-loss": -4,
  "session-expired": -112,
  "session-moved": -118,
  "auth-failed": -115,
};

/** An error in zkCli's words where it has any; our own sentence without the `error:` otherwise. */
export function zkcliError(failure: Failure): string {
  const { reason, stack } = failure;
  const list = reason === "unknown-command" ? zkcliUsageList() : "";
  const lines = sentences(failure).map((sentence) => `${escapeName(sentence)}\n`);
  return `${list}${lines.join("")}${stack === undefined ? "" : `${escapeText(stack)}\n`}`;
}

function sentences(failure: Failure): string[] {
  const { reason, message, code = CODES[reason], path, command } = failure;
  const keeper = command === "create" ? [keeperSentence(INVALID_ACL, path)] : [];
  if (reason === "bad-acl") return [message, ...keeper, `${SENTENCES[INVALID_ACL]}null`];
  if (code === INVALID_ACL) return [...keeper, zkcliSentence(code, path)];
  return [code === undefined ? ownSentence(failure) : zkcliSentence(code, path)];
}

function zkcliSentence(code: number, path: string | undefined): string {
  const sentence = SENTENCES[code];
  if (sentence !== undefined) return `${sentence}${path ?? ""}`;
  const alone = WITHOUT_PATH[code];
  if (alone !== undefined) return alone;
  return keeperSentence(code, path);
}

/** KeeperException's own text, where zkCli has not put it into other words. */
export function keeperMessage(
  { code, message }: { code?: number | undefined; message: string },
  path: string,
): string {
  return code === undefined ? message : keeperSentence(code, path);
}

function keeperSentence(code: number, path: string | undefined): string {
  const keeper = `KeeperErrorCode = ${KEEPER_MESSAGES[code] ?? `Unknown error ${code}`}`;
  return path === undefined ? keeper : `${keeper} for ${path}`;
}

function ownSentence({ reason, message, hint, command }: Failure): string {
  // Too few words: zkCli answers with the usage line alone.
  if (reason === "missing-argument") return zkcliUsage(command ?? "") ?? hint ?? message;
  if (reason === "unknown-command")
    return message.replace(/^.*?'(.*)'$/s, "Command not found: Command not found $1");
  if (reason === "not-connected") return "Not connected";
  if (reason === "bad-duration" && command === "create") return "-t argument must be a long value";
  return message;
}
