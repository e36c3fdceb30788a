/**
 * The messages of SASL DIGEST-MD5 (RFC 2831) as ZooKeeper exchanges them: challenge, response and
 * the server's proof that it knows the password too.
 */
import { createHash, timingSafeEqual } from "node:crypto";

/** The realm and host name that both sides of ZooKeeper use in place of the real ones. */
export const SASL_REALM = "zk-sasl-md5";
const DIGEST_URI = `zookeeper/${SASL_REALM}`;
/** RFC 2831 limits challenges to 2,047 and responses to 4,095 bytes. */
const MAX_MESSAGE_BYTES = 4_095;
const FIRST_USE = "00000001";

/** A message that does not follow RFC 2831, or asks for what is not offered here. */
export class MalformedDigestError extends Error {}

/** The parts of a message by their names, which are in lower case. */
export type Directives = ReadonlyMap<string, string>;

export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  /** False: names and passwords are in ISO 8859-1. */
  readonly isUtf8: boolean;
}

export interface DigestLogin {
  readonly username: string;
  readonly password: string;
}

/** What a client answers, and the proof that it then expects of the server. */
export interface DigestResponse {
  readonly message: Buffer;
  readonly serverProof: string;
}

/** `name=value,name="value"`, where a backslash in quotes stands for the character behind it. */
export function readDirectives(message: Buffer): Directives {
  if (message.length > MAX_MESSAGE_BYTES)
    throw new MalformedDigestError(`a message of ${message.length} bytes`);
  const text = message.toString("utf8").replace(/\0$/, "");
  const directives = new Map<string, string>();
  const pattern =
    /[ \t\r\n,]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^",\s]*))[ \t]*(?:,|$)/gsy;
  while (pattern.lastIndex < text.length) {
    const [, name = "", quoted, token] = pattern.exec(text) ?? [];
    if (name === "") throw new MalformedDigestError("a message that is not a list of directives");
    const key = name.toLowerCase();
    // Servers may offer several realms; nothing else may be said twice.
    if (directives.has(key) && key !== "realm") throw new MalformedDigestError(`two ${key}`);
    if (!directives.has(key)) directives.set(key, quoted?.replace(/\\(.)/gs, "$1") ?? token ?? "");
  }
  return directives;
}

export function readChallenge(message: Buffer): DigestChallenge {
  const directives = readDirectives(message);
  const nonce = directives.get("nonce") ?? "";
  const algorithm = directives.get("algorithm");
  if (nonce === "") throw new MalformedDigestError("a challenge without a nonce");
  if (algorithm !== "md5-sess")
    throw new MalformedDigestError(`the algorithm ${algorithm ?? "(none)"} instead of md5-sess`);
  const offered = directives.get("qop")?.split(/[ \t]*,[ \t]*/);
  if (offered && !offered.includes("auth"))
    throw new MalformedDigestError(`the protection ${offered.join(", ")} without auth`);
  const isUtf8 = directives.get("charset")?.toLowerCase() === "utf-8";
  return { realm: directives.get("realm") ?? "", nonce, isUtf8 };
}

/** The challenge of a server. */
export function writeChallenge(nonce: string): Buffer {
  return Buffer.from(`realm="${SASL_REALM}",nonce="${nonce}",charset=utf-8,algorithm=md5-sess`);
}

/** `cnonce` must be new and unguessable for each response. */
export function respond(
  { realm, nonce, isUtf8 }: DigestChallenge,
  login: DigestLogin,
  cnonce: string,
): DigestResponse {
  const key = sessionKey({ realm, nonce, isUtf8 }, login, cnonce);
  const parts = [
    ...(isUtf8 ? ["charset=utf-8"] : []),
    `username=${quoted(login.username)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `nc=${FIRST_USE}`,
    `cnonce=${quoted(cnonce)}`,
    `digest-uri=${quoted(DIGEST_URI)}`,
    `response=${proof(key, nonce, cnonce, "AUTHENTICATE")}`,
    "qop=auth",
  ];
  const serverProof = proof(key, nonce, cnonce, "");
  return { message: Buffer.from(parts.join(","), isUtf8 ? "utf8" : "latin1"), serverProof };
}

/** True when the server's last message proves that it knows the password. */
export function isServerProof(message: Buffer, expected: string): boolean {
  return isSame(readDirectives(message).get("rspauth") ?? "", expected);
}

/**
 * Judges a client's response to `nonce`. Returns the user and the server's last message, or
 * undefined when the password or any directive is wrong.
 */
export function judgeResponse(
  message: Buffer,
  nonce: string,
  passwordOf: (username: string) => string | undefined,
): { readonly username: string; readonly message: Buffer } | undefined {
  const said = readDirectives(message);
  const username = said.get("username") ?? "";
  const cnonce = said.get("cnonce") ?? "";
  const password = passwordOf(username);
  // A client may ask to act as another user, which is refused; the Java client names itself.
  const authzid = said.get("authzid");
  const isSound =
    (authzid ?? username) === username &&
    cnonce !== "" &&
    said.get("nonce") === nonce &&
    said.get("nc") === FIRST_USE &&
    said.get("realm") === SASL_REALM &&
    said.get("digest-uri") === DIGEST_URI &&
    (said.get("qop") ?? "auth") === "auth";
  if (password === undefined || !isSound) return undefined;
  const isUtf8 = said.get("charset")?.toLowerCase() === "utf-8";
  const challenge = { realm: SASL_REALM, nonce, isUtf8 };
  const key = sessionKey(challenge, { username, password }, cnonce, authzid);
  const expected = proof(key, nonce, cnonce, "AUTHENTICATE");
  if (!isSame(said.get("response") ?? "", expected)) return undefined;
  return { username, message: Buffer.from(`rspauth=${proof(key, nonce, cnonce, "")}`) };
}

/** RFC 2831's H(A1) of md5-sess. */
function sessionKey(
  { realm, nonce, isUtf8 }: DigestChallenge,
  { username, password }: DigestLogin,
  cnonce: string,
  authzid?: string,
): string {
  const user = createHash("md5");
  const colon = Buffer.from(":");
  for (const part of [
    hashedForm(username, isUtf8),
    colon,
    hashedForm(realm, isUtf8),
    colon,
    hashedForm(password, isUtf8),
  ])
    user.update(part);
  const tail = `:${nonce}:${cnonce}${authzid === undefined ? "" : `:${authzid}`}`;
  return createHash("md5").update(user.digest()).update(tail).digest("hex");
}

function proof(key: string, nonce: string, cnonce: string, method: string): string {
  const what = md5Hex(`${method}:${DIGEST_URI}`);
  return md5Hex([key, nonce, FIRST_USE, cnonce, "auth", what].join(":"));
}

/** RFC 2831 hashes a text as ISO 8859-1 wherever it fits into it, also when it is sent as UTF-8. */
function hashedForm(text: string, isUtf8: boolean): Buffer {
  const fits = [...text].every((character) => (character.codePointAt(0) ?? 0) <= 0xff);
  return Buffer.from(text, isUtf8 && !fits ? "utf8" : "latin1");
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function md5Hex(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
