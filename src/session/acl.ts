import { createHash } from "node:crypto";
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
 * Reads `scheme:id:perms,…`; ids may hold colons. Throws UsageError where zkCli would skip an entry or a letter,
 * because an access list that is silently weaker than the one written is worse than none.
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
      hint: "for example world:anyone:r or digest:USER:HASH:cdrwa",
    });
  }
  return { scheme: entry.slice(0, first), id: entry.slice(first + 1, last), perms: parsePerms(entry.slice(last + 1)) };
}

function parsePerms(letters: string): number {
  if (letters === "") throw new UsageError("no permissions in ACL", { hint: "letters: c d r w a" });
  let perms = 0;
  for (const letter of letters) {
    const bit = LETTERS[letter];
    if (bit === undefined) throw new UsageError(`Unknown perm type: ${letter}`, { hint: "letters: c d r w a" });
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

/** Turns every `digest:USER:PASSWORD` into what servers compare with: the password's hash in its place. */
export function hashDigests(acl: readonly Acl[]): Acl[] {
  return acl.map((entry) => {
    if (entry.scheme !== "digest") return entry;
    const colon = entry.id.indexOf(":");
    if (colon <= 0) {
      throw new UsageError("a digest to be hashed is USER:PASSWORD", { hint: "as in digest:USER:PASSWORD:cdrwa" });
    }
    const hash = createHash("sha1").update(entry.id).digest("base64");
    return { ...entry, id: `${entry.id.slice(0, colon)}:${hash}` };
  });
}
