/** Identities, the rules for access lists, and what they permit. */
import { createHash } from "node:crypto";
import type { AclRecord } from "../wire/records.ts";
import { refuse } from "./refusal.ts";

export const Perm = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

export interface AuthIdentity {
  readonly scheme: string;
  readonly id: string;
}

export const OPEN_ACL: readonly AclRecord[] = [{ perms: Perm.all, scheme: "world", id: "anyone" }];
export const READ_ACL: readonly AclRecord[] = [{ perms: Perm.read, scheme: "world", id: "anyone" }];

interface Scheme {
  /** Returns the id that the credential proves, or undefined if it proves none. */
  authenticate(credential: Buffer | null, address: string): string | undefined;
  /** True if `auth` in an ACL stands for ids of this scheme. It does not stand for addresses. */
  readonly isProof: boolean;
  isValid(id: string): boolean;
  matches(own: string, listed: string): boolean;
  /** The id without its secret part. */
  userOf(id: string): string;
}

const SCHEMES: Readonly<Record<string, Scheme>> = {
  digest: {
    authenticate(credential) {
      if (credential === null) return undefined;
      const text = credential.toString();
      return `${text.split(":", 1)[0]}:${createHash("sha1").update(text).digest("base64")}`;
    },
    isProof: true,
    // Java's split() drops empty pieces at the end, so they are not counted here either.
    isValid: (id) => id.replace(/:+$/, "").split(":").length === 2,
    matches: (own, listed) => own === listed,
    userOf: (id) => id.split(":", 1)[0] ?? "",
  },
  ip: {
    authenticate: (_credential, address) => address,
    isProof: false,
    isValid: (id) => parseNetwork(id) !== undefined,
    matches(own, listed) {
      const network = parseNetwork(listed);
      const address = parseNetwork(own);
      if (network === undefined || address === undefined) return false;
      const mask = network.bits === 0 ? 0 : -1 << (32 - network.bits);
      return (network.address & mask) === (address.address & mask);
    },
    userOf: (id) => id,
  },
  sasl: {
    // Proved by a login, never by a credential.
    authenticate: () => undefined,
    isProof: true,
    isValid: (id) => id !== "",
    matches: (own, listed) => own === listed,
    userOf: (id) => id,
  },
};

function schemeOf(name: string): Scheme | undefined {
  return Object.hasOwn(SCHEMES, name) ? SCHEMES[name] : undefined;
}

/** Parses `10.1.2.3` or `10.1.0.0/16`. ZooKeeper 3.8 accepts no IPv6 here. */
function parseNetwork(text: string): { address: number; bits: number } | undefined {
  const found = /^(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?$/.exec(text);
  if (found === null) return undefined;
  const [, ...parts] = found.map(Number);
  const bytes = parts.slice(0, 4);
  const bits = found[5] === undefined ? 32 : Number(found[5]);
  if (bytes.some((byte) => byte > 255) || bits > 32) return undefined;
  return { address: bytes.reduce((sum, byte) => (sum << 8) | byte, 0), bits };
}

/** Returns the identity that a credential proves, or undefined. */
export function authenticate(
  scheme: string,
  credential: Buffer | null,
  address: string,
): AuthIdentity | undefined {
  const id = schemeOf(scheme)?.authenticate(credential, address);
  return id === undefined ? undefined : { scheme, id };
}

/** Returns an identity as whoAmI shows it: a digest without its hash. */
export function userOf({ scheme, id }: AuthIdentity): string {
  return schemeOf(scheme)?.userOf(id) ?? "";
}

/** Throws a Refusal unless one of the identities has one of the permissions. */
export function checkAccess(
  acl: readonly AclRecord[],
  perm: number,
  identities: readonly AuthIdentity[],
): void {
  if (!isPermitted(acl, perm, identities)) refuse("noAuth");
}

/** An empty ACL permits everything. */
export function isPermitted(
  acl: readonly AclRecord[],
  perm: number,
  identities: readonly AuthIdentity[],
): boolean {
  if (acl === OPEN_ACL || acl.length === 0) return true;
  return acl.some(({ perms, scheme, id }) => {
    if ((perms & perm) === 0) return false;
    if (scheme === "world" && id === "anyone") return true;
    return identities.some((own) => own.scheme === scheme && schemeOf(scheme)?.matches(own.id, id));
  });
}

/** Resolves the ACL of a request: `auth` becomes the identities of the client. */
export function resolveAcl(
  acl: readonly AclRecord[],
  identities: readonly AuthIdentity[],
  doesSasl: boolean,
): readonly AclRecord[] {
  if (acl.length === 0) refuse("invalidAcl");
  if (acl.length === 1 && isOpen(acl[0])) return OPEN_ACL;
  const resolved = unique(acl).flatMap((entry) => {
    const { perms, scheme, id } = entry;
    if (scheme === "world" && id === "anyone") return [entry];
    // As ZooKeeper without the authentication provider for it.
    if (scheme === "sasl" && !doesSasl) refuse("invalidAcl");
    if (scheme !== "auth") return schemeOf(scheme)?.isValid(id) ? [entry] : refuse("invalidAcl");
    const proved = identities.filter((own) => schemeOf(own.scheme)?.isProof);
    return proved.length === 0 ? refuse("invalidAcl") : proved.map((own) => ({ perms, ...own }));
  });
  return resolved;
}

/** Hides the hashes of digests, for clients that may read but not administrate the znode. */
export function maskAcl(acl: readonly AclRecord[]): AclRecord[] {
  return acl.map((entry) =>
    entry.scheme === "digest" ? { ...entry, id: entry.id.replace(/:.*/, ":x") } : entry,
  );
}

function isOpen(entry: AclRecord | undefined): boolean {
  return entry?.perms === Perm.all && entry.scheme === "world" && entry.id === "anyone";
}

function unique(acl: readonly AclRecord[]): readonly AclRecord[] {
  const isSame = (a: AclRecord, b: AclRecord) =>
    a.perms === b.perms && a.scheme === b.scheme && a.id === b.id;
  return acl.filter((entry, index) => acl.findIndex((other) => isSame(entry, other)) === index);
}
