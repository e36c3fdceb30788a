/** Whether an ACL permits something to a session, as far as a client can know. */
import { type Acl, type Identity, Permission } from "../../session/session.ts";

/** What is known of a session's identities. */
export interface KnownIdentities {
  /** Those that its credentials stand for; a digest with its hash. */
  readonly credentials: readonly Identity[];
  /** Those that the server named; undefined where it cannot. A digest without its hash. */
  readonly named: readonly Identity[] | undefined;
  /** This machine's address of the connection. */
  readonly localAddress: string | undefined;
}

export interface Decision {
  /** Undefined: cannot be told. */
  readonly isPermitted: boolean | undefined;
  /** The entry that permits it, or that would decide if more was known. */
  readonly entry?: Acl;
  /** What else was taken into account. */
  readonly why?: DecisionReason;
}

export type DecisionReason =
  /** The session is a super user, for whom no ACL counts. */
  | "super"
  /** An empty ACL permits everything. */
  | "empty-acl"
  /** The server has shown the ACL, which takes the permission asked for. */
  | "shown"
  /** The server does not show the ACL, which takes read or admin permission. */
  | "hidden-acl"
  /** The server has hidden the hashes, which it does not do with admin permission. */
  | "hidden-hashes"
  /** The entry has a hash that only a session with admin permission is shown. */
  | "hidden-hash"
  /** The hash is of another kind than zksh can compute. */
  | "other-hash"
  /** The client's address was taken from its own end of the connection. */
  | "local-address"
  /** The server does not say which identities the session has. */
  | "unnamed"
  /** Only the server's own rules tell whether the identity matches. */
  | "other-scheme";

type Match =
  | { readonly is: "yes"; readonly why?: DecisionReason }
  | { readonly is: "no" }
  | { readonly is: "unknown"; readonly why: DecisionReason };

const NO: Match = { is: "no" };

/**
 * Decides by an ACL that the server has shown. The first entry that surely permits it decides, as
 * on the server.
 */
export function decide(acl: readonly Acl[], permission: number, who: KnownIdentities): Decision {
  if (isSuper(who)) return { isPermitted: true, why: "super" };
  if (acl.length === 0) return { isPermitted: true, why: "empty-acl" };
  const isHidden = acl.some(({ scheme, id }) => scheme === "digest" && isHiddenHash(id));
  let unclear: Decision | undefined;
  for (const entry of acl) {
    if ((entry.perms & permission) === 0) continue;
    // Hashes are hidden from sessions that no entry gives admin permission.
    if (isHidden && (entry.perms & Permission.admin) !== 0) continue;
    const match = matches(entry, who);
    if (match.is === "yes")
      return { isPermitted: true, entry, ...(match.why && { why: match.why }) };
    if (match.is === "unknown") unclear ??= { isPermitted: undefined, entry, why: match.why };
  }
  // Servers show an ACL, with hidden hashes, to those who may read the znode.
  if (isHidden && permission === Permission.read) return { isPermitted: true, why: "shown" };
  if (isHidden && permission === Permission.admin)
    return { isPermitted: false, why: "hidden-hashes" };
  return unclear ?? maybeSuper(who) ?? { isPermitted: false };
}

/** Decides without the ACL, which the server shows to those who may read or admin. */
export function decideUnseen(permission: number): Decision {
  const isAnswered = permission === Permission.read || permission === Permission.admin;
  return { isPermitted: isAnswered ? false : undefined, why: "hidden-acl" };
}

function isSuper({ named }: KnownIdentities): boolean {
  return named?.some(({ scheme }) => scheme === "super") ?? false;
}

/** A server that names no identities may take the user `super` for what its name says. */
function maybeSuper({ credentials, named }: KnownIdentities): Decision | undefined {
  if (named !== undefined) return undefined;
  const isNamedSuper = credentials.some(
    ({ scheme, id }) => scheme === "digest" && userOf(id) === "super",
  );
  return isNamedSuper ? { isPermitted: undefined, why: "unnamed" } : undefined;
}

function matches({ scheme, id }: Acl, who: KnownIdentities): Match {
  if (scheme === "world") return id === "anyone" ? { is: "yes" } : NO;
  if (scheme === "digest") return matchesDigest(id, who);
  if (scheme === "ip") return matchesAddress(id, who);
  const own = who.named?.filter((identity) => identity.scheme === scheme);
  if (own === undefined) return { is: "unknown", why: "unnamed" };
  if (own.some((identity) => identity.id === id)) return { is: "yes" };
  const isPlain = ["sasl", "x509"].includes(scheme);
  return own.length === 0 || isPlain ? NO : { is: "unknown", why: "other-scheme" };
}

function matchesDigest(id: string, { credentials }: KnownIdentities): Match {
  const own = credentials.filter(
    (identity) => identity.scheme === "digest" && userOf(identity.id) === userOf(id),
  );
  if (own.length === 0) return NO;
  if (own.some((identity) => identity.id === id)) return { is: "yes" };
  if (isHiddenHash(id)) return { is: "unknown", why: "hidden-hash" };
  // Servers from 3.7 can be told to use another hash than SHA-1.
  return isSha1(id) ? NO : { is: "unknown", why: "other-hash" };
}

function matchesAddress(listed: string, { named, localAddress }: KnownIdentities): Match {
  const seen = named?.filter(({ scheme }) => scheme === "ip").map(({ id }) => id);
  const addresses = seen ?? (localAddress === undefined ? [] : [localAddress]);
  const isGuess = seen === undefined;
  if (addresses.length === 0) return isGuess ? { is: "unknown", why: "unnamed" } : NO;
  const found = addresses.map((address) => isInNetwork(address, listed));
  if (found.includes(true)) return isGuess ? { is: "yes", why: "local-address" } : { is: "yes" };
  if (isGuess || found.includes(undefined))
    return { is: "unknown", why: isGuess ? "local-address" : "other-scheme" };
  return NO;
}

/** Undefined for addresses of other kinds than IPv4, which servers do not all know. */
function isInNetwork(address: string, network: string): boolean | undefined {
  const own = parseIpv4(address);
  const listed = parseIpv4(network);
  if (own === undefined || listed === undefined) return undefined;
  const mask = listed.bits === 0 ? 0 : -1 << (32 - listed.bits);
  return (own.value & mask) === (listed.value & mask);
}

function parseIpv4(text: string): { value: number; bits: number } | undefined {
  const found = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?$/i.exec(text);
  if (found === null) return undefined;
  const bytes = found.slice(1, 5).map(Number);
  const bits = found[5] === undefined ? 32 : Number(found[5]);
  if (bits > 32 || bytes.some((byte) => byte > 255)) return undefined;
  return { value: bytes.reduce((sum, byte) => (sum << 8) | byte, 0), bits };
}

function userOf(id: string): string {
  return id.split(":", 1)[0] ?? "";
}

function isHiddenHash(id: string): boolean {
  return id.endsWith(":x");
}

function isSha1(id: string): boolean {
  return /:[A-Za-z0-9+/]{27}=$/.test(id);
}
