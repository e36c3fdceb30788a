import { UsageError } from "../errors.ts";
import { type Acl, Permission } from "./session.ts";

const LETTERS: Readonly<Record<string, number>> = {
  c: Permission.create,
  d: Permission.delete,
  r: Permission.read,
  w: Permission.write,
  a: Permission.admin,
};

/**
 * Reads `scheme:id:perms,…`; ids may hold colons. Throws UsageError where zkCli would skip an entry
 * or a letter, because an access list that is silently weaker than the one written is worse than
 * none.
 */
export function parseAcl(text: string): Acl[] {
  return text.split(",").map(parseEntry);
}

function parseEntry(entry: string): Acl {
  const first = entry.indexOf(":");
  const last = entry.lastIndexOf(":");
  if (first <= 0 || last === first) {
    throw new UsageError(`${entry} does not have the form scheme:id:perm`, {
      reason: "bad-acl",
      hint: "use for example world:anyone:r or digest:USER:HASH:cdrwa",
    });
  }
  return {
    scheme: entry.slice(0, first),
    id: entry.slice(first + 1, last),
    perms: parsePerms(entry.slice(last + 1)),
  };
}

function parsePerms(letters: string): number {
  if (letters === "") throw new UsageError("no permissions in ACL", { hint: "letters: c d r w a" });
  let perms = 0;
  for (const letter of letters) {
    const bit = LETTERS[letter];
    if (bit === undefined)
      throw new UsageError(`Unknown perm type: ${letter}`, { hint: "letters: c d r w a" });
    perms |= bit;
  }
  return perms;
}

/** The letters of a sum of permissions, in zkCli's order. */
export function formatPerms(perms: number): string {
  return Object.entries(LETTERS)
    .map(([letter, bit]) => ((perms & bit) === 0 ? "" : letter))
    .join("");
}

/** An entry as {@link parseAcl} reads it. */
export function formatAcl({ scheme, id, perms }: Acl): string {
  return `${scheme}:${id}:${formatPerms(perms)}`;
}

/** What servers compare with: a SHA-1 of 20 bytes in base64. */
const SHA1_BASE64 = /^[A-Za-z0-9+/]{27}=$/;

/**
 * The ACL that a server may be asked for. A digest that is not a hash is refused, because the
 * server takes a password there too, and then no password opens the znode. Throws UsageError, which
 * does not repeat the password.
 */
export function checkedAcl(acl: readonly Acl[]): readonly Acl[] {
  for (const { scheme, id } of acl) {
    const colon = id.indexOf(":");
    // Servers refuse a digest without a colon themselves.
    if (scheme !== "digest" || colon < 0 || SHA1_BASE64.test(id.slice(colon + 1))) continue;
    throw new UsageError(
      `the digest of '${id.slice(0, colon)}' is not a hash (28 characters of base64)`,
      {
        reason: "not-a-hash",
      },
    );
  }
  return acl;
}
