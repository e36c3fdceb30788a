import { editDistance } from "../../text/suggest.ts";
import { lex } from "../parsing/lexer.ts";
import { withoutAssignment } from "../parsing/line-words.ts";
import { commandIndex } from "../parsing/split-globals.ts";

const HIDDEN = "***";

/**
 * Returns a line without secrets: credentials of addauth and passwords in digest identities are
 * replaced.
 */
export function redact(text: string): string {
  let redacted = "";
  let upTo = 0;
  for (const statement of lex(text, { hasPipes: true }).statements) {
    const words = withoutAssignment(statement.words);
    const command = commandIndex(words.map(({ text }) => text));
    const isAuth = seemsAddauth(words[command]?.text ?? "");
    for (const [index, word] of words.entries()) {
      const before = words[index - 1]?.text ?? "";
      const isCredential =
        (isAuth && index >= command + 2) ||
        /^--?auth$/.test(before) ||
        (before === "digest" && /:/.test(word.text));
      // Of a digest, a name alone is no secret: its password is asked for.
      const isName = isAuth && words[command + 1]?.text === "digest" && !word.text.includes(":");
      const safe = isCredential && !isName ? withoutPassword(word.text) : withoutDigests(word.text);
      if (safe === word.text) continue;
      redacted += text.slice(upTo, word.start) + safe;
      upTo = word.end;
    }
    // A zksh in the command of the line takes passwords as well.
    const { pipe = "" } = statement;
    const safePipe = withoutPipedSecrets(pipe);
    const at = safePipe === pipe ? -1 : text.indexOf(pipe, statement.words.at(-1)?.end ?? upTo);
    if (at < 0) continue;
    redacted += text.slice(upTo, at) + safePipe;
    upTo = at + pipe.length;
  }
  return redacted + text.slice(upTo);
}

/** A credential up to its end in the words of a system shell. */
const PIPED = /((?:\bdigest[\s:]\s*|--?auth[\s=]\s*["']?(?!digest\b))[^:\s'"]+:)[^\s'"|;&]+/g;

/** Text of another language, the system's shell, which is not read: what looks like a credential. */
function withoutPipedSecrets(command: string): string {
  return command.replace(PIPED, (_, name: string) => name + HIDDEN);
}

/** A mistyped addauth must not put its credential into the history. */
function seemsAddauth(command: string): boolean {
  return command !== "addWatch" && editDistance(command.toLowerCase(), "addauth") <= 2;
}

/** A line that was redacted cannot be run again. */
export function isRedacted(line: string): boolean {
  const isAuth = lex(line, { hasPipes: true }).statements.some(
    ({ words, source }) => words.some(({ text }) => seemsAddauth(text)) && source.includes(HIDDEN),
  );
  return isAuth || /(?:\bdigest[\s:]|--?auth[\s=]).*\*\*\*/is.test(line);
}

/** `ann:secret` → `ann:***`; a credential without a name is all secret. Options stay. */
function withoutPassword(credential: string): string {
  if (credential.startsWith("-")) return credential;
  const name = /^((?:digest:)?[^:\s]+):/.exec(credential)?.[1];
  return name === undefined ? HIDDEN : `${name}:${HIDDEN}`;
}

/**
 * `digest:ann:secret:cdrwa` → `digest:ann:***:cdrwa`. A hash, as in any ACL that was printed, is no
 * secret.
 */
function withoutDigests(word: string): string {
  const hashed = /^(.*?\bdigest:[^:]*:[A-Za-z0-9+/]{27}=)(?=:|,|$)(.*)$/s.exec(word);
  if (hashed && !/\bdigest:.*\bdigest:/s.test(hashed[1] ?? ""))
    return hashed[1] + withoutDigests(hashed[2] ?? "");
  // A password may have commas and colons in it: everything up to the last permissions is taken for
  // one.
  const found = /^(.*?\bdigest:[^:]*:)(.+?)(:[cdrwa]+)?$/s.exec(word);
  return found ? `${found[1]}${HIDDEN}${found[3] ?? ""}` : word;
}
